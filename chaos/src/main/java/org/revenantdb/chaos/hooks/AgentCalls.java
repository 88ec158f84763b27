package org.revenantdb.chaos.hooks;

import java.io.File;
import java.io.IOException;
import java.nio.file.Path;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.agent.FileCall;
import org.revenantdb.chaos.hooks.OpenFiles.Opened;

/**
 * Tells which calls of native methods concern the directory under test, and which of its files. The
 * lock is held for those.
 *
 * <p>Threads: any.
 */
final class AgentCalls {
  /*
   * What is looked up without the lock is looked up again behind it: another thread may have closed
   * or renamed it. Where a directory is now is asked of the tree, not of the path it was opened by.
   */

  // The modes of RandomAccessFile.
  private static final int RANDOM_RDWR = 2;
  private static final int RANDOM_SYNC = 4;
  private static final int RANDOM_DSYNC = 8;
  private static final int RANDOM_TEMPORARY = 16;

  // CreateFile.
  private static final int WINDOWS_WRITE_DATA = 2 | 0x40000000;
  private static final int WINDOWS_APPEND_DATA = 4;
  private static final int WINDOWS_WRITE_THROUGH = 0x80000000;
  private static final int WINDOWS_DELETE_ON_CLOSE = 0x04000000;
  private static final int[] WINDOWS_DISPOSITIONS = {
    0, Tape.CREAT, Tape.CREAT | Tape.TRUNC, 0, Tape.CREAT, Tape.TRUNC
  };

  private static final int DATA_ONLY = 1;
  private static final int WITH_METADATA = 2;

  private static final boolean WINDOWS = System.getProperty("os.name").startsWith("Windows");
  private static final boolean LINUX = System.getProperty("os.name").equals("Linux");

  private final Journal journal;
  private final CallOrder order;
  private final ProcessMemory memory;
  private final KnownDirectory directory;
  private final OpenFiles open;
  private final SharedPages pages;
  private OpenFlags flags = OpenFlags.NONE;

  AgentCalls(Journal journal, CallOrder order, ProcessMemory memory, KnownDirectory directory) {
    this.journal = journal;
    this.order = order;
    this.memory = memory;
    this.directory = directory;
    this.open = directory.open();
    this.pages = directory.pages();
  }

  /** Sets what the flags of this operating system mean. */
  void use(OpenFlags ofThisSystem) {
    flags = ofThisSystem;
  }

  /** Whether the call concerns the directory, and if so, of which files. */
  @Nullable BegunCall begun(
      FileCall call,
      CallOrder.Caller by,
      @Nullable Object one,
      @Nullable Object two,
      @Nullable Object three,
      long a,
      long b,
      long c,
      long d,
      long e,
      long f)
      throws IOException {
    return switch (call) {
      case NOTHING -> null;
      case OPEN_INPUT -> opening(call, by, one, text(two), 0, 0, false);
      case OPEN_OUTPUT ->
          opening(
              call,
              by,
              one,
              text(two),
              a != 0 ? Tape.CREAT : Tape.CREAT | Tape.TRUNC,
              0,
              /* appends= */ a != 0);
      case OPEN_RANDOM -> {
        BegunCall begun =
            opening(
                call,
                by,
                one,
                text(two),
                (a & RANDOM_RDWR) != 0 ? Tape.CREAT : 0,
                (a & RANDOM_SYNC) != 0 ? WITH_METADATA : (a & RANDOM_DSYNC) != 0 ? DATA_ONLY : 0,
                false);
        yield WINDOWS && begun != null && (a & RANDOM_TEMPORARY) != 0
            ? begun.gap("a file is deleted when it is closed")
            : begun;
      }
      case OPEN_PATH -> openingUnix(call, by, memory.path(a), b);
      case OPEN_PATH_AT -> at(call, by, a, b, path -> openingUnix(call, by, path, c));
      case OPEN_WINDOWS -> {
        boolean appends = (b & WINDOWS_APPEND_DATA) != 0 && (b & WINDOWS_WRITE_DATA) == 0;
        BegunCall begun =
            opening(
                call,
                by,
                null,
                memory.path(a),
                WINDOWS_DISPOSITIONS[(int) e],
                (f & WINDOWS_WRITE_THROUGH) != 0 ? WITH_METADATA : 0,
                appends);
        yield begun != null && (f & WINDOWS_DELETE_ON_CLOSE) != 0
            ? begun.gap("a file is deleted when it is closed")
            : begun;
      }
      case DUPLICATE -> of(call, by, a);
      case CLOSE_DESCRIPTOR -> closing(call, by, one, 0);
      case CLOSE_NUMBER -> closing(call, by, null, a);
      case CLOSE_NUMBER_OR_HANDLE -> closing(call, by, null, WINDOWS ? b : a);
      case WRITE_BYTE, WRITE_BYTES, SET_LENGTH -> of(call, by, OpenFiles.of(one));
      case WRITE, WRITE_AT, WRITE_VECTOR, TRUNCATE, FORCE_DESCRIPTOR, FORCE, MAP ->
          of(call, by, one);
      case WRITE_NUMBER, TRUNCATE_HERE, COPY_DESCRIPTORS -> of(call, by, a);
      case WRITE_LATER -> {
        BegunCall begun = of(call, by, a);
        yield begun == null ? null : begun.gap("a file was written to by an asynchronous channel");
      }
      case TRANSFER_TO, TRANSFER_FROM -> of(call, by, two);
      case FORCE_MEMORY, UNMAP -> {
        BegunCall begun = order.begun(call, by);
        begun.a = a;
        begun.b = b;
        order.lock(begun);
        if (pages.overlaps(a, b)) {
          yield begun;
        }
        order.unlock(begun);
        yield null;
      }
      case CLONE_PATH -> naming(call, by, memory.path(b), "");
      case CREATE_FILE, CREATE_DIRECTORY, DELETE_FILE -> naming(call, by, text(two), "");
      case RENAME_FILE -> naming(call, by, text(two), text(three));
      case CREATE_DIRECTORY_PATH, DELETE_PATH -> naming(call, by, memory.path(a), "");
      case DELETE_PATH_AT -> at(call, by, a, b, path -> naming(call, by, path, ""));
      case RENAME_PATHS, LINK_PATHS -> naming(call, by, memory.path(a), memory.path(b));
      case RENAME_PATHS_AT ->
          at(call, by, a, b, path -> at(call, by, c, d, other -> naming(call, by, path, other)));
      case LINK_PATHS_WINDOWS -> naming(call, by, memory.path(b), memory.path(a));
      case MAKE_SYMBOLIC_LINK -> {
        BegunCall begun = naming(call, by, memory.path(b), "");
        yield begun == null ? null : begun.gap("a symbolic link was made");
      }
      case MAKE_SYMBOLIC_LINK_WINDOWS, MAKE_OTHER -> {
        BegunCall begun = naming(call, by, memory.path(a), "");
        yield begun == null ? null : begun.gap("a symbolic link or special file was made");
      }
    };
  }

  private @Nullable BegunCall of(FileCall call, CallOrder.Caller by, long number) {
    return of(call, by, null, number);
  }

  private @Nullable BegunCall of(FileCall call, CallOrder.Caller by, @Nullable Object descriptor) {
    return of(call, by, descriptor, open.numberOf(descriptor));
  }

  private @Nullable BegunCall of(
      FileCall call, CallOrder.Caller by, @Nullable Object descriptor, long number) {
    if (open.find(number) == null) {
      return null;
    }
    BegunCall begun = order.begun(call, by);
    order.lock(begun);
    // Another thread may have closed it before this one got the lock: then the call fails.
    Opened file = open.find(descriptor == null ? number : open.numberOf(descriptor));
    if (file == null) {
      order.unlock(begun);
      return null;
    }
    begun.file = file;
    begun.node = file.node();
    return begun;
  }

  /** The descriptor is forgotten under the lock, which is held until it is closed. */
  private @Nullable BegunCall closing(
      FileCall call, CallOrder.Caller by, @Nullable Object descriptor, long number) {
    if (open.find(descriptor == null ? number : open.numberOf(descriptor)) == null) {
      return null;
    }
    BegunCall begun = new BegunCall(call, by, /* stack= */ 0);
    order.lockQuietly(begun);
    open.remove(descriptor == null ? number : open.numberOf(descriptor));
    return begun;
  }

  /** A call with a name in a directory that is open. Where that is now is known under the lock. */
  private @Nullable BegunCall at(
      FileCall call,
      CallOrder.Caller by,
      long number,
      long address,
      Function<String, @Nullable BegunCall> withPath) {
    journal.lock().lock();
    try {
      String path = memory.path(address);
      Opened in = open.find(number);
      String known = RootPaths.isAbsolute(path) ? "" : in == null ? realDirectory(number) : null;
      if (known == null && in != null) {
        String now = directory.names().path(in.node());
        known = now == null ? null : directory.paths().shown(now);
      }
      if (known == null) {
        BegunCall begun = order.begun(call, by);
        begun.path = path;
        order.lock(begun);
        return begun.gap("a name was used in an open directory that the record does not know");
      }
      return withPath.apply(known.isEmpty() ? path : known + "/" + path);
    } finally {
      journal.lock().unlock();
    }
  }

  /** Where a directory is that was opened elsewhere; null if this platform does not tell. */
  private static @Nullable String realDirectory(long number) {
    if (!LINUX) {
      return null;
    }
    try {
      return Path.of("/proc/self/fd/" + number).toRealPath().toString();
    } catch (IOException e) {
      return null;
    }
  }

  private @Nullable BegunCall openingUnix(
      FileCall call, CallOrder.Caller by, String path, long given) {
    return opening(
        call,
        by,
        null,
        path,
        flags.onTape(given),
        flags.isSync(given) ? WITH_METADATA : flags.isDataSync(given) ? DATA_ONLY : 0,
        flags.isAppend(given));
  }

  private @Nullable BegunCall opening(
      FileCall call,
      CallOrder.Caller by,
      @Nullable Object object,
      String path,
      int flags,
      int forces,
      boolean appends) {
    if (directory.paths().inside(path, /* isFollowed= */ true) == null) {
      return null;
    }
    BegunCall begun = order.begun(call, by);
    order.lock(begun);
    // Another thread may have renamed a directory before this one got the lock.
    String absolute = directory.paths().inside(path, /* isFollowed= */ true);
    if (absolute == null) {
      order.unlock(begun);
      return null;
    }
    begun.object = object;
    begun.path = directory.paths().below(absolute);
    begun.flags = flags;
    begun.sync = forces;
    begun.append = appends;
    return begun;
  }

  private @Nullable BegunCall naming(
      FileCall call, CallOrder.Caller by, String path, String other) {
    if (!directory.paths().isInside(named(path)) && !directory.paths().isInside(named(other))) {
      return null;
    }
    BegunCall begun = order.begun(call, by);
    order.lock(begun);
    begun.path = named(path);
    begun.other = named(other);
    if (!directory.paths().isInside(begun.path) && !directory.paths().isInside(begun.other)) {
      order.unlock(begun);
      return null;
    }
    return begun;
  }

  /** What a path names, which may be elsewhere. */
  private String named(String path) {
    if (path.isEmpty()) {
      return "";
    }
    String inside = directory.paths().inside(path, /* isFollowed= */ false);
    return inside != null ? inside : "elsewhere: " + path;
  }

  private static String text(@Nullable Object path) {
    return path instanceof File file ? file.getPath() : String.valueOf(path);
  }
}
