package org.revenantdb.chaos.hooks;

import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.agent.Internals;
import org.revenantdb.chaos.hooks.Names.Node;

/**
 * The descriptors that were opened below the directory under test, and the files they refer to. A
 * descriptor leaves the table before it is closed, so before its number is used again.
 *
 * <p>Threads: any may look up; changes are made under the lock of the {@link Journal}.
 */
final class OpenFiles {

  private static final boolean WINDOWS = System.getProperty("os.name").startsWith("Windows");

  private final Map<Long, Opened> open = new ConcurrentHashMap<>();
  private @Nullable Internals theInternals;

  /**
   * An open file.
   *
   * @param path below the directory when it was opened, for reports; it may have another name now
   * @param append whether each write goes to the end
   * @param sync as on the tape: 0, or what each write forces
   */
  record Opened(Node node, String path, boolean append, int sync) {}

  /** Sets what tells the numbers of descriptors. */
  void use(Internals internals) {
    theInternals = internals;
  }

  Internals internals() {
    Internals internals = theInternals;
    if (internals == null) {
      throw new IllegalStateException();
    }
    return internals;
  }

  @Nullable Opened find(long number) {
    return number < 0 && !WINDOWS ? null : open.get(number);
  }

  void put(long number, Opened file) {
    open.put(number, file);
  }

  void remove(long number) {
    open.remove(number);
  }

  /** Removes all; whether there were some. */
  boolean clear() {
    boolean removed = !open.isEmpty();
    open.clear();
    return removed;
  }

  /** The number of a descriptor; -1 if it is none. */
  long numberOf(@Nullable Object descriptor) {
    return descriptor instanceof FileDescriptor file ? internals().numberOf(file) : -1;
  }

  static FileDescriptor asDescriptor(@Nullable Object given) {
    if (given instanceof FileDescriptor file) {
      return file;
    }
    throw new IllegalStateException("not a descriptor: " + given);
  }

  /** The descriptor of a stream or random-access file. */
  static FileDescriptor of(@Nullable Object file) throws IOException {
    return switch (file) {
      case FileOutputStream out -> out.getFD();
      case FileInputStream in -> in.getFD();
      case RandomAccessFile random -> random.getFD();
      case null, default -> throw new IllegalStateException("an unknown kind of file: " + file);
    };
  }
}
