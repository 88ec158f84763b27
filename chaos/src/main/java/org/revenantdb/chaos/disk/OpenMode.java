package org.revenantdb.chaos.disk;

import java.nio.file.LinkOption;
import java.nio.file.OpenOption;
import java.nio.file.StandardOpenOption;
import java.util.Set;

/**
 * How a file is opened, with the rules of the default file system for combinations of options.
 *
 * @param read whether it may be read
 * @param write whether it may be written
 * @param append whether every write goes to the end
 * @param truncate whether it is emptied first
 * @param create whether it is created if it is not there
 * @param createNew whether it must not be there
 * @param deleteOnClose whether its name is deleted as soon as it is open, as on Linux
 */
record OpenMode(
    boolean read,
    boolean write,
    boolean append,
    boolean truncate,
    boolean create,
    boolean createNew,
    boolean deleteOnClose) {

  static final OpenMode READ = of(Set.of(StandardOpenOption.READ));
  static final OpenMode CREATE_NEW =
      of(Set.of(StandardOpenOption.WRITE, StandardOpenOption.CREATE_NEW));

  /** For a channel with a position. */
  static OpenMode of(Set<? extends OpenOption> options) {
    for (OpenOption option : options) {
      checkKnown(option);
    }
    boolean append = options.contains(StandardOpenOption.APPEND);
    boolean write = append || options.contains(StandardOpenOption.WRITE);
    boolean read = !write || options.contains(StandardOpenOption.READ);
    boolean truncate = options.contains(StandardOpenOption.TRUNCATE_EXISTING);
    if (append && read) {
      throw new IllegalArgumentException("READ + APPEND not allowed");
    }
    if (append && truncate) {
      throw new IllegalArgumentException("APPEND + TRUNCATE_EXISTING not allowed");
    }
    // The options that create or empty a file are ignored unless it is opened for writing.
    return new OpenMode(
        read,
        write,
        append,
        write && truncate,
        write && options.contains(StandardOpenOption.CREATE),
        write && options.contains(StandardOpenOption.CREATE_NEW),
        options.contains(StandardOpenOption.DELETE_ON_CLOSE));
  }

  /** For a channel without a position. */
  static OpenMode ofAsynchronous(Set<? extends OpenOption> options) {
    if (options.contains(StandardOpenOption.APPEND)) {
      throw new UnsupportedOperationException("APPEND not allowed");
    }
    return of(options);
  }

  private static void checkKnown(OpenOption option) {
    boolean known =
        switch (option) {
          case StandardOpenOption standard -> true;
          case LinkOption link -> true;
          // com.sun.nio.file.ExtendedOpenOption.DIRECT, which not every JDK has:
          // nothing is cached here.
          case Enum<?> extended -> extended.name().equals("DIRECT");
          default -> false;
        };
    if (!known) {
      throw new UnsupportedOperationException(option + " not supported");
    }
  }
}
