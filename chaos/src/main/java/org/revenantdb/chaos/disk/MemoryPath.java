package org.revenantdb.chaos.disk;

import java.io.File;
import java.io.IOException;
import java.net.URI;
import java.net.URISyntaxException;
import java.nio.file.InvalidPathException;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.nio.file.ProviderMismatchException;
import java.nio.file.WatchEvent;
import java.nio.file.WatchKey;
import java.nio.file.WatchService;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Names with {@code /} between them, absolute or relative to the root, where every program starts.
 */
final class MemoryPath implements Path {
  /*
   * The root is absolute and has no names. The empty path is relative and has one name, which is
   * empty; no other path has an empty name. "." and ".." are ordinary names until the path is
   * normalized or followed.
   */

  static final String SEPARATOR = "/";
  static final String SCHEME = "revenant-memory";

  private static final String[] NO_NAMES = {};
  private static final String[] EMPTY = {""};

  private final MemoryFileSystem fileSystem;
  private final boolean absolute;
  private final String[] names;
  // Computed on first use; two threads that compute it get equal strings.
  private @Nullable String text;

  private MemoryPath(MemoryFileSystem fileSystem, boolean absolute, String[] names) {
    this.fileSystem = fileSystem;
    this.absolute = absolute;
    this.names = names.length == 0 && !absolute ? EMPTY : names;
  }

  static MemoryPath root(MemoryFileSystem fileSystem) {
    return new MemoryPath(fileSystem, /* absolute= */ true, NO_NAMES);
  }

  static MemoryPath parse(MemoryFileSystem fileSystem, String first, String... more) {
    String joined = first;
    for (String part : more) {
      if (!part.isEmpty()) {
        joined = joined.isEmpty() ? part : joined + SEPARATOR + part;
      }
    }
    int nul = joined.indexOf('\0');
    if (nul >= 0) {
      throw new InvalidPathException(joined, "a name contains the character U+0000", nul);
    }
    List<String> names = new ArrayList<>();
    for (int from = startOfNames(fileSystem.above(), joined); from < joined.length(); ) {
      int to = joined.indexOf('/', from);
      to = to < 0 ? joined.length() : to;
      if (to > from) {
        names.add(joined.substring(from, to));
      }
      from = to + 1;
    }
    return new MemoryPath(fileSystem, joined.startsWith(SEPARATOR), names.toArray(NO_NAMES));
  }

  /** Skips the text that absolute paths of this file system begin with. */
  private static int startOfNames(String above, String text) {
    int length = above.length();
    boolean skips =
        text.startsWith(above) && (text.length() == length || text.charAt(length) == '/');
    return skips ? length : 0;
  }

  /** The names. The caller must not change the array. */
  String[] names() {
    return names;
  }

  @Override
  public MemoryFileSystem getFileSystem() {
    return fileSystem;
  }

  @Override
  public boolean isAbsolute() {
    return absolute;
  }

  @Override
  public @Nullable MemoryPath getRoot() {
    return absolute ? root(fileSystem) : null;
  }

  @Override
  public @Nullable MemoryPath getFileName() {
    return names.length == 0 ? null : relative(names.length - 1, names.length);
  }

  @Override
  public @Nullable MemoryPath getParent() {
    if (names.length == 0 || (names.length == 1 && !absolute)) {
      return null;
    }
    return new MemoryPath(fileSystem, absolute, Arrays.copyOf(names, names.length - 1));
  }

  @Override
  public int getNameCount() {
    return names.length;
  }

  @Override
  public MemoryPath getName(int index) {
    return subpath(index, index + 1);
  }

  @Override
  public MemoryPath subpath(int from, int to) {
    if (from < 0 || to > names.length || from >= to) {
      throw new IllegalArgumentException("no names " + from + " to " + to + " in " + this);
    }
    return relative(from, to);
  }

  private MemoryPath relative(int from, int to) {
    return new MemoryPath(fileSystem, /* absolute= */ false, Arrays.copyOfRange(names, from, to));
  }

  private boolean isEmpty() {
    return names.length == 1 && names[0].isEmpty();
  }

  @Override
  public boolean startsWith(Path other) {
    return Objects.requireNonNull(other) instanceof MemoryPath prefix
        && prefix.fileSystem == fileSystem
        && prefix.absolute == absolute
        && prefix.names.length <= names.length
        && Arrays.equals(prefix.names, 0, prefix.names.length, names, 0, prefix.names.length);
  }

  @Override
  public boolean endsWith(Path other) {
    if (!(Objects.requireNonNull(other) instanceof MemoryPath suffix)
        || suffix.fileSystem != fileSystem) {
      return false;
    }
    int from = names.length - suffix.names.length;
    return (suffix.absolute ? absolute && from == 0 : from >= 0)
        && Arrays.equals(suffix.names, 0, suffix.names.length, names, from, names.length);
  }

  @Override
  public MemoryPath normalize() {
    List<String> kept = new ArrayList<>(names.length);
    for (String name : names) {
      boolean up = name.equals("..");
      if (up && !kept.isEmpty() && !kept.getLast().equals("..")) {
        kept.removeLast();
      } else if (!name.isEmpty() && !name.equals(".") && !(up && absolute)) {
        kept.add(name);
      }
    }
    return kept.size() == names.length
        ? this
        : new MemoryPath(fileSystem, absolute, kept.toArray(NO_NAMES));
  }

  @Override
  public MemoryPath resolve(Path other) {
    MemoryPath child = own(other);
    if (child.absolute || isEmpty()) {
      return child;
    }
    if (child.isEmpty()) {
      return this;
    }
    String[] all = Arrays.copyOf(names, names.length + child.names.length);
    System.arraycopy(child.names, 0, all, names.length, child.names.length);
    return new MemoryPath(fileSystem, absolute, all);
  }

  @Override
  public MemoryPath relativize(Path other) {
    MemoryPath target = own(other);
    if (target.equals(this)) {
      return new MemoryPath(fileSystem, /* absolute= */ false, NO_NAMES);
    }
    if (absolute != target.absolute) {
      throw new IllegalArgumentException("one is absolute: " + this + " and " + target);
    }
    String[] from = normalize().parts();
    String[] to = (isEmpty() ? target : target.normalize()).parts();
    int common = Arrays.mismatch(from, to);
    if (common < 0) {
      common = from.length;
    }
    List<String> result = new ArrayList<>();
    for (int i = common; i < from.length; i++) {
      if (from[i].equals("..")) {
        throw new IllegalArgumentException(
            "a relative path is not known from " + this + " to " + target);
      }
      result.add("..");
    }
    result.addAll(Arrays.asList(to).subList(common, to.length));
    return new MemoryPath(fileSystem, /* absolute= */ false, result.toArray(NO_NAMES));
  }

  /** The names, none for the empty path. */
  private String[] parts() {
    return isEmpty() ? NO_NAMES : names;
  }

  @Override
  public MemoryPath toAbsolutePath() {
    return absolute ? this : new MemoryPath(fileSystem, /* absolute= */ true, parts());
  }

  @Override
  public Path toRealPath(LinkOption... options) throws IOException {
    fileSystem.names().get(this);
    return toAbsolutePath().normalize();
  }

  @Override
  public URI toUri() {
    try {
      return new URI(SCHEME, null, toAbsolutePath().toString(), null);
    } catch (URISyntaxException e) {
      throw new AssertionError("an absolute path is a path of a URI", e);
    }
  }

  @Override
  public File toFile() {
    throw new UnsupportedOperationException(
        this
            + " is in memory and cannot be a java.io.File; code that needs one is tested on the"
            + " default file system");
  }

  @Override
  public WatchKey register(
      WatchService watcher, WatchEvent.Kind<?>[] events, WatchEvent.Modifier... modifiers) {
    throw new UnsupportedOperationException("a file system in memory has no watch service");
  }

  private MemoryPath own(Path other) {
    if (Objects.requireNonNull(other) instanceof MemoryPath path && path.fileSystem == fileSystem) {
      return path;
    }
    throw new ProviderMismatchException(other + " is not of this file system");
  }

  @Override
  public int compareTo(Path other) {
    return toString().compareTo(((MemoryPath) other).toString());
  }

  @Override
  public boolean equals(@Nullable Object other) {
    return other instanceof MemoryPath path
        && path.fileSystem == fileSystem
        && path.absolute == absolute
        && Arrays.equals(path.names, names);
  }

  @Override
  public int hashCode() {
    return toString().hashCode();
  }

  @Override
  public String toString() {
    String known = text;
    if (known == null) {
      String inside = String.join(SEPARATOR, names);
      String above = fileSystem.above();
      known =
          !absolute
              ? inside
              : inside.isEmpty() && !above.isEmpty() ? above : above + SEPARATOR + inside;
      text = known;
    }
    return known;
  }
}
