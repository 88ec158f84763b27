package org.revenantdb.recovery.file;

import java.nio.file.Path;

/** The format of the file is not the one that this library reads. */
public final class FormatVersionException extends FileException {
  private static final long serialVersionUID = 1L;

  /** The version of the file. */
  private final int found;

  /** The version of this library. */
  private final int supported;

  /**
   * A file of another version.
   *
   * @param file the file
   * @param offset where its version stands
   * @param found the version of the file
   * @param supported the version that this library reads and writes
   */
  public FormatVersionException(Path file, long offset, int found, int supported) {
    this(file, offset, "format version", found, supported);
  }

  private FormatVersionException(Path file, long offset, String what, int found, int supported) {
    super(
        file,
        offset,
        "the file has "
            + what
            + " "
            + Integer.toUnsignedString(found)
            + ", this library reads "
            + what
            + " "
            + supported,
        Integer.compareUnsigned(found, supported) > 0
            ? "use a newer release of RevenantDB"
            : "use the release of RevenantDB that wrote it",
        /* cause= */ null);
    this.found = found;
    this.supported = supported;
  }

  private FormatVersionException(FormatVersionException original) {
    super(original.file(), original.offset(), original.reason(), original.cure(), original);
    this.found = original.found;
    this.supported = original.supported;
  }

  /**
   * A file whose pages have another size, which is part of the format.
   *
   * @param file the file
   * @param offset where its page size stands
   * @param found the page size of the file
   * @param supported the page size that this library reads and writes
   * @return the exception to throw
   */
  public static FormatVersionException pageSize(Path file, long offset, int found, int supported) {
    return new FormatVersionException(file, offset, "page size", found, supported);
  }

  /**
   * The version of the file.
   *
   * @return the version, or page size, found; unsigned
   */
  public int found() {
    return found;
  }

  /**
   * The version of this library.
   *
   * @return the version, or page size, supported
   */
  public int supported() {
    return supported;
  }

  @Override
  protected FileException copy() {
    return new FormatVersionException(this);
  }
}
