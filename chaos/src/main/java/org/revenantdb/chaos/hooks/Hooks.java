package org.revenantdb.chaos.hooks;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_LONG;

import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.FunctionDescriptor;
import java.lang.foreign.Linker;
import java.lang.foreign.MemorySegment;
import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The hooks: every file function that a native library calls comes here, is carried out, and what
 * it does to files of the directory under test is written to the {@link Tape}.
 *
 * <p>Threads: any, also those that native libraries start. Failure: a hook never throws, because an
 * exception that leaves an upcall ends the JVM. If it cannot record an operation, it carries it out
 * and sets {@link Tape#FAILED}; the run is then not measured.
 */
final class Hooks {
  /*
   * Order       LOCK is held from before an operation takes its place until it is carried out and
   *             recorded. So the order of places is the order of effects, for all threads. A force
   *             holds it only while it takes its two places: `since` before the call, and its own
   *             behind it.
   * Identity    A file is its inode, asked for with each call (fstat), so descriptors may be copied
   *             or passed on. `known` has the inodes that were ever created in the directory.
   * Reentry     What a hook does itself (a class is loaded) goes past the recorder: Slot.inside.
   * errno       is that of the real call, or of the fault. It is written back as the last thing that
   *             a hook does.
   * Faults      A call that fails by our doing is recorded like any other and not carried out. Of
   *             a fault that stays, only the first call is recorded: a store that tries again for
   *             ever must neither fill the tape nor look alive.
   * Memory      Everything that a hook must have is allocated before; a Slot once for each thread.
   *             Stacks allocate; without memory a stack is unknown.
   */

  private static final int CREAT = Tape.CREAT;
  private static final int TRUNC = Tape.TRUNC;
  private static final int APPEND = 02000;
  private static final int DSYNC = 010000;
  private static final int SYNC = 04000000;
  private static final int DIRECT = Slot.ARM ? 0200000 : 040000;

  /** With O_DIRECT the kernel writes whole blocks: of 512 bytes or, on many disks, of so many. */
  private static final long DIRECT_BLOCK = 4096;

  private static final int TMPFILE = 020000000;
  private static final int AT_FDCWD = -100;
  private static final int MS_SYNC = 4;
  private static final int EIO = 5;

  /** The modes of fallocate that give space back: a hole is made, or a range is taken out. */
  private static final int FREES = 2 | 8;

  private static final int FORCE_ALL_FILES = -1;

  private static final String FIND_ENTRY = Call.FIND_ENTRY.names().getFirst();
  private static final byte[] ON_LOAD = "JNI_OnLoad".getBytes(StandardCharsets.US_ASCII);

  private static final Journal JOURNAL = new Journal(Hooks::comparePages);
  private static final ReentrantLock LOCK = JOURNAL.lock();
  private static final AtomicLong CLOCK = JOURNAL.clock();
  private static final ThreadLocal<Slot> SLOTS = ThreadLocal.withInitial(Hooks::newSlot);
  private static final Slot SPARE = new Slot();
  private static final byte[] ZERO = {0};
  private static final Stacks STACKS = new Stacks(JOURNAL);
  private static final Entries ENTRIES = new Entries(JOURNAL);
  private static final Inodes KNOWN = new Inodes();

  private static @Nullable Mappings theMappings;
  private static @Nullable ImportTables theTables;
  private static byte[] root = {};
  private static long device;
  private static int threads;
  private static Faults faults = Faults.NOTHING;

  /** Whether openings that change nothing can fail or are counted. */
  private static boolean openings;

  private static volatile boolean on;

  private Hooks() {}

  /**
   * Puts the hooks in place, and tries them. Recording begins with {@link #start} or {@link
   * #continueIn}.
   *
   * @param trial an empty directory of its own, an absolute path without symbolic links
   * @param onto receives the record of the trial
   * @throws Throwable if this process cannot be hooked
   */
  static void install(Path trial, Tape onto) throws Throwable {
    JOURNAL.use(onto);
    root = trial.toString().getBytes(StandardCharsets.UTF_8);
    Slot slot = newSlot();
    theMappings = new Mappings(slot);
    Map<String, Long> hooks = new HashMap<>();
    Map<String, Long> real = new HashMap<>();
    long findEntry = Libc.addressInJvm(FIND_ENTRY);
    if (findEntry == 0) {
      throw new UnsupportedOperationException("this JVM has no function " + FIND_ENTRY);
    }
    Libc.bind(Call.FIND_ENTRY, findEntry);
    hooks.put(FIND_ENTRY, stub(Call.FIND_ENTRY));
    real.put(FIND_ENTRY, findEntry);
    for (Call call : Call.values()) {
      if (call != Call.FIND_ENTRY && Libc.has(call)) {
        long stub = stub(call);
        for (String name : call.names()) {
          long address = Libc.address(name);
          if (address != 0) {
            hooks.put(name, stub);
            real.put(name, address);
          }
        }
      }
    }
    ImportTables tables = new ImportTables(hooks, real);
    theTables = tables;
    remember(slot);
    Trial.load(trial);
    tables.patchNew();
    on = true;
    List<String> unseen = Trial.use(trial, onto, () -> false);
    on = false;
    if (!unseen.isEmpty() || onto.lost() != 0) {
      throw new UnsupportedOperationException(
          "the hooks did not see what the trial did: %s (%d pointers changed, lost: %d)"
              .formatted(String.join("; ", unseen), tables.places(), onto.lost()));
    }
  }

  private static void remember(Slot slot) throws Throwable {
    KNOWN.clear();
    if (!slot.exists(root, root.length)) {
      throw new IOException("no directory " + new String(root, StandardCharsets.UTF_8));
    }
    device = slot.device();
    KNOWN.add(slot.inode());
  }

  /**
   * Begins to record, with an empty tape.
   *
   * @param directory the directory under test, empty, an absolute path without symbolic links
   * @param onto receives the record
   * @param injected the faults
   * @param countsOpenings whether openings that change nothing are recorded too
   */
  static void start(Path directory, Tape onto, Faults injected, boolean countsOpenings)
      throws Throwable {
    onto.reset();
    CLOCK.set(0);
    begin(directory, onto, injected, countsOpenings, /* existing= */ List.of());
  }

  /**
   * Begins to record behind what another process has recorded, on the files that it left.
   *
   * @param directory the directory under test
   * @param onto has the record of that process
   * @param lastPlace the last place that it took, or a later one
   * @param existing all that is in the directory
   */
  static void continueIn(Path directory, Tape onto, long lastPlace, List<Path> existing)
      throws Throwable {
    CLOCK.set(lastPlace);
    begin(directory, onto, Faults.NOTHING, /* countsOpenings= */ false, existing);
  }

  private static void begin(
      Path directory, Tape onto, Faults injected, boolean countsOpenings, List<Path> existing)
      throws Throwable {
    JOURNAL.use(onto);
    root = directory.toString().getBytes(StandardCharsets.UTF_8);
    faults = injected;
    openings = countsOpenings;
    Slot slot = SLOTS.get();
    STACKS.reset();
    remember(slot);
    long rootInode = slot.inode();
    for (Path path : existing) {
      byte[] name = path.toString().getBytes(StandardCharsets.UTF_8);
      if (slot.exists(name, name.length)) {
        KNOWN.add(slot.inode());
      }
    }
    JOURNAL.root(rootInode);
    announce(slot);
    on = true;
  }

  private static Tape tape() {
    return JOURNAL.tape();
  }

  private static Mappings mappings() {
    Mappings mappings = theMappings;
    if (mappings == null) {
      throw new IllegalStateException();
    }
    return mappings;
  }

  @SuppressWarnings("restricted") // this JVM was started with native access for that
  private static long stub(Call call) throws ReflectiveOperationException {
    FunctionDescriptor descriptor = Libc.descriptor(call.signature());
    MethodType six =
        MethodType.methodType(
            long.class,
            Call.class,
            long.class,
            long.class,
            long.class,
            long.class,
            long.class,
            long.class);
    MethodHandle target =
        MethodHandles.insertArguments(
            MethodHandles.lookup().findStatic(Hooks.class, "hook", six), 0, call);
    int arguments = descriptor.argumentLayouts().size();
    Object[] zeros = Collections.nCopies(6 - arguments, 0L).toArray();
    target = MethodHandles.insertArguments(target, arguments, zeros);
    target = MethodHandles.explicitCastArguments(target, descriptor.toMethodType());
    return Linker.nativeLinker().upcallStub(target, descriptor, Arena.global()).address();
  }

  private static Slot newSlot() {
    return new Slot();
  }

  private static void announce(Slot slot) {
    Thread thread = Thread.currentThread();
    slot.thread = ++threads;
    JOURNAL.note(Tape.THREAD, slot.thread, thread.getName().getBytes(StandardCharsets.UTF_8));
  }

  /** All functions come here. */
  static long hook(Call call, long a, long b, long c, long d, long e, long f) {
    Slot slot;
    try {
      slot = SLOTS.get();
    } catch (Throwable t) {
      return unrecorded(call, a, b, c, d, e, f);
    }
    boolean outermost = !slot.inside;
    boolean recorded = false;
    boolean locked = false;
    int strike = Faults.NONE;
    if (outermost) {
      slot.inside = true;
      try {
        if (call == Call.FIND_ENTRY || call == Call.DLSYM || call == Call.DLOPEN) {
          return lookUp(slot, call, a, b);
        }
        if (on && concerns(slot, call, a, b, c, d, e)) {
          slot.stack = STACKS.here();
          LOCK.lock();
          locked = true;
          if (slot.thread == 0) {
            announce(slot);
          }
          JOURNAL.look(slot.thread, slot.stack, /* all= */ false);
          before(slot, call, a, b, c, d, e);
          recorded = true;
          strike = faults.strike(tape(), possible(slot, call, b, c), CLOCK.get(), slot.stack);
          if (strike != Faults.NONE && slot.record != 0 && tape().strikes() > 1) {
            tape().retract(slot.record);
            slot.record = 0;
          }
          if (isForce(call)) {
            LOCK.unlock();
            locked = false;
          }
        }
      } catch (Throwable t) {
        lost(t);
      }
    }
    long result;
    int errno;
    if (strike == Faults.NONE) {
      result = real(slot, call, a, b, c, d, e, f);
      errno = slot.errno();
    } else if (strike == Faults.HALF) {
      result = half(slot, call, a, d);
      errno = slot.errno();
    } else {
      errno = faults.errno(call);
      result = failed(call, errno);
    }
    slot.clean = strike == Faults.FAILS_CLEAN;
    if (outermost) {
      try {
        if (recorded) {
          if (!locked) {
            LOCK.lock();
            locked = true;
          }
          after(slot, call, result, errno, a, b, c, d, e, f);
        }
      } catch (Throwable t) {
        lost(t);
      } finally {
        slot.inside = false;
        if (locked) {
          LOCK.unlock();
        }
      }
    }
    restore(errno);
    return result;
  }

  /** What a function returns if it fails. */
  private static long failed(Call call, int errno) {
    return switch (call) {
      case POSIX_FALLOCATE -> errno; // and it sets none
      case OPENDIR, FOPEN, DLOPEN, DLSYM, FIND_ENTRY -> 0; // an address
      default -> -1;
    };
  }

  private static void restore(int errno) {
    try {
      Libc.setErrno(errno);
    } catch (Throwable t) {
      lost(t);
    }
  }

  private static void lost(Throwable t) {
    JOURNAL.lost(t);
  }

  /** Without a slot: even errno may be wrong, and the run is lost. */
  private static long unrecorded(Call call, long a, long b, long c, long d, long e, long f) {
    try {
      tape().lose(Tape.FAILED);
      return (long) Libc.handle(call).invokeExact(SPARE.errno, a, b, c, d, e, f);
    } catch (Throwable t) {
      return failed(call, EIO);
    }
  }

  private static long real(Slot slot, Call call, long a, long b, long c, long d, long e, long f) {
    try {
      return (long) Libc.handle(call).invokeExact(slot.errno, a, b, c, d, e, f);
    } catch (Throwable t) {
      lost(t);
      return failed(call, EIO);
    }
  }

  /**
   * Writes the first half, from the copy on the tape, where the parts of a vector are together.
   * With O_DIRECT the memory must begin at the boundary of a block, as only that of the store does.
   */
  private static long half(Slot slot, Call call, long fd, long offset) {
    long copy = tape().memory().address() + slot.record + Tape.HEADER;
    long data = slot.direct ? slot.data : copy;
    return switch (call) {
      case PWRITE, PWRITEV -> real(slot, Call.PWRITE, fd, data, slot.half, offset, 0, 0);
      default -> real(slot, Call.WRITE, fd, data, slot.half, 0, 0, 0);
    };
  }

  /** What can fail in a call, as bits of {@link Faults}. Called behind {@link #before}. */
  private static int possible(Slot slot, Call call, long b, long c) {
    boolean recorded = slot.record != 0;
    return switch (call) {
      case OPEN, OPEN_CHECKED -> recorded ? ofOpening(slot, b) : 0;
      case OPENAT, OPENAT_CHECKED -> recorded ? ofOpening(slot, c) : 0;
      case OPENDIR -> recorded ? Faults.OPEN : 0;
      case CREAT -> recorded ? ofOpening(slot, CREAT | TRUNC) : 0;
      case WRITE, PWRITE, WRITEV, PWRITEV ->
          recorded ? ofWrite(slot) | (slot.half > 0 ? Faults.LONG_WRITE : 0) : 0;
      case PWRITEV2 -> recorded ? ofWrite(slot) : 0;
      case FALLOCATE -> recorded ? Faults.WRITE | ((b & FREES) == 0 ? Faults.GROWTH : 0) : 0;
      case POSIX_FALLOCATE -> recorded ? Faults.WRITE | Faults.GROWTH : 0;
      case SENDFILE, COPY_FILE_RANGE, SPLICE -> Faults.WRITE | Faults.GROWTH;
      case FTRUNCATE, TRUNCATE -> recorded ? Faults.TRUNCATE : 0;
      case FSYNC, FDATASYNC, SYNCFS -> Faults.FORCE;
      case MSYNC -> (c & MS_SYNC) != 0 ? Faults.FORCE : 0;
      case MKDIR, MKDIRAT, LINK, LINKAT -> recorded ? Faults.CREATE | Faults.GROWTH : 0;
      case RENAME, RENAMEAT, RENAMEAT2 -> recorded ? Faults.RENAME : 0;
      case UNLINK, UNLINKAT, REMOVE, RMDIR -> recorded ? Faults.DELETE : 0;
      default -> 0;
    };
  }

  private static int ofWrite(Slot slot) {
    long end = slot.offset + tape().getLong(slot.record + Tape.C);
    return Faults.WRITE | (end > slot.size() ? Faults.GROWTH : 0);
  }

  private static int ofOpening(Slot slot, long flags) {
    if ((flags & CREAT) != 0 && !slot.existed) {
      return Faults.OPEN | Faults.CREATE | Faults.GROWTH;
    }
    return (flags & TRUNC) != 0 && slot.existed ? Faults.OPEN | Faults.TRUNCATE : Faults.OPEN;
  }

  /** Functions that find functions: they find our hooks, also in libraries that came just now. */
  private static long lookUp(Slot slot, Call call, long a, long b) throws Throwable {
    ImportTables tables = theTables;
    try {
      if (tables != null && call == Call.FIND_ENTRY && isOnLoad(b)) {
        patchNew(tables);
      }
      long result = real(slot, call, a, b, 0, 0, 0, 0);
      int errno = slot.errno();
      if (tables != null && call == Call.DLOPEN) {
        patchNew(tables);
      } else if (tables != null) {
        result = tables.hookOf(result);
      }
      Libc.setErrno(errno);
      return result;
    } finally {
      slot.inside = false;
    }
  }

  private static void patchNew(ImportTables tables) {
    try {
      synchronized (tables) {
        tables.patchNew();
      }
    } catch (Throwable t) {
      lost(t);
    }
  }

  /** The JVM looks for JNI_OnLoad in every library that it has loaded, before it runs any of it. */
  private static boolean isOnLoad(long name) {
    for (int i = 0; i < ON_LOAD.length; i++) {
      if (Libc.ALL.get(JAVA_BYTE, name + i) != ON_LOAD[i]) {
        return false;
      }
    }
    return true;
  }

  private static boolean isForce(Call call) {
    return switch (call) {
      case FSYNC, FDATASYNC, SYNCFS, SYNC, MSYNC -> true;
      default -> false;
    };
  }

  /** Whether the call may change or force something in the directory. Resolves its paths. */
  private static boolean concerns(Slot slot, Call call, long a, long b, long c, long d, long e)
      throws Throwable {
    return switch (call) {
      case OPEN, OPEN_CHECKED -> (openings || changes(b)) && isBelowOrRoot(slot, AT_FDCWD, a);
      case OPENAT, OPENAT_CHECKED -> (openings || changes(c)) && isBelowOrRoot(slot, (int) a, b);
      case OPENDIR -> openings && isBelowOrRoot(slot, AT_FDCWD, a);
      case CREAT, TRUNCATE, UNLINK, REMOVE, RMDIR, MKDIR -> isInside(slot, AT_FDCWD, a);
      case UNLINKAT, MKDIRAT -> isInside(slot, (int) a, b);
      case RENAME, LINK -> isInside(slot, AT_FDCWD, a, AT_FDCWD, b);
      case RENAMEAT, RENAMEAT2, LINKAT -> isInside(slot, (int) a, b, (int) c, d);
      case SYMLINK -> isInside(slot, AT_FDCWD, b);
      case SYMLINKAT -> isInside(slot, (int) b, c);
      case WRITE, PWRITE, WRITEV, PWRITEV, PWRITEV2 -> isOurs(slot, a);
      case FTRUNCATE, FALLOCATE, POSIX_FALLOCATE, FSYNC, FDATASYNC -> isOurs(slot, a);
      case SYNCFS -> Libc.fstat((int) a, slot.stat) == 0 && slot.device() == device;
      case SYNC -> true;
      case SENDFILE -> isOurs(slot, a);
      case COPY_FILE_RANGE, SPLICE -> isOurs(slot, c);
      // shared, for writing, of a file
      case MMAP -> (d & 1) != 0 && (c & 2) != 0 && (int) e >= 0 && isOurs(slot, e);
      case MUNMAP, MREMAP, MSYNC -> mappings().overlaps(a, b);
      case FOPEN -> isForWriting(b) && isInside(slot, AT_FDCWD, a);
      case DLOPEN, DLSYM, FIND_ENTRY -> false;
    };
  }

  private static boolean changes(long flags) {
    return (flags & (CREAT | TRUNC)) != 0 || (flags & TMPFILE) != 0;
  }

  private static boolean isForWriting(long mode) {
    for (long at = mode; ; at++) {
      byte b = Libc.ALL.get(JAVA_BYTE, at);
      if (b == 0) {
        return false;
      }
      if (b == 'w' || b == 'a' || b == '+') {
        return true;
      }
    }
  }

  private static boolean isOurs(Slot slot, long fd) throws Throwable {
    return Libc.fstat((int) fd, slot.stat) == 0
        && slot.device() == device
        && (slot.isFile() || slot.isDirectory())
        && KNOWN.contains(slot.inode());
  }

  private static boolean isInside(Slot slot, int directory, long path) throws Throwable {
    slot.firstLength = slot.absolute(directory, path, slot.first);
    slot.secondLength = 0;
    return isInside(slot.first, slot.firstLength);
  }

  private static boolean isInside(Slot slot, int one, long path, int two, long other)
      throws Throwable {
    slot.firstLength = slot.absolute(one, path, slot.first);
    slot.secondLength = slot.absolute(two, other, slot.second);
    return isInside(slot.first, slot.firstLength) || isInside(slot.second, slot.secondLength);
  }

  /** The directory under test itself can be opened, too, to force it or to list it. */
  private static boolean isBelowOrRoot(Slot slot, int directory, long path) throws Throwable {
    return isInside(slot, directory, path)
        || Arrays.equals(slot.first, 0, slot.firstLength, root, 0, root.length);
  }

  private static boolean isInside(byte[] path, int length) {
    if (length <= root.length || path[root.length] != '/') {
      return false;
    }
    for (int i = 0; i < root.length; i++) {
      if (path[i] != root[i]) {
        return false;
      }
    }
    return true;
  }

  private static void before(Slot slot, Call call, long a, long b, long c, long d, long e)
      throws Throwable {
    slot.record = 0;
    switch (call) {
      case OPEN, OPEN_CHECKED -> opening(slot, b);
      case OPENAT, OPENAT_CHECKED -> opening(slot, c);
      case OPENDIR -> opening(slot, 0);
      case CREAT -> opening(slot, CREAT | TRUNC);
      case WRITE -> writing(slot, (int) a, -1, b, c, 0, 0);
      case PWRITE -> writing(slot, (int) a, d, b, c, 0, 0);
      case WRITEV -> writing(slot, (int) a, -1, 0, vectorLength(b, c), b, 0);
      case PWRITEV -> writing(slot, (int) a, d, 0, vectorLength(b, c), b, 0);
      case PWRITEV2 -> writing(slot, (int) a, d, 0, vectorLength(b, c), b, e);
      case FSYNC, FDATASYNC -> {
        slot.before = Libc.fstat((int) a, slot.stat) == 0 ? slot.inode() : 0;
        slot.since = CLOCK.incrementAndGet();
      }
      case SYNC, SYNCFS, MSYNC -> slot.since = CLOCK.incrementAndGet();
      case FTRUNCATE -> {
        if (Libc.fstat((int) a, slot.stat) == 0) {
          sizing(slot, Tape.FTRUNCATE, b, 0, slot.size());
        }
      }
      case TRUNCATE -> {
        if (slot.exists(slot.first, slot.firstLength)) {
          sizing(slot, Tape.FTRUNCATE, b, 0, slot.size());
        }
      }
      case FALLOCATE -> {
        if (Libc.fstat((int) a, slot.stat) == 0) {
          sizing(slot, Tape.FALLOCATE, c, d, (slot.size() << 8) | (b & 0xFF));
        }
      }
      case POSIX_FALLOCATE -> {
        if (Libc.fstat((int) a, slot.stat) == 0) {
          sizing(slot, Tape.FALLOCATE, b, c, slot.size() << 8);
        }
      }
      case SENDFILE -> copying(slot, (int) a, 0);
      case COPY_FILE_RANGE, SPLICE -> copying(slot, (int) c, d);
      case RENAME, RENAMEAT -> naming(slot, Tape.RENAME, 0);
      case RENAMEAT2 -> naming(slot, Tape.RENAME, e);
      case LINK, LINKAT -> naming(slot, Tape.LINK, 0);
      case UNLINK, UNLINKAT, REMOVE, RMDIR -> naming(slot, Tape.UNLINK, 0);
      case MKDIR, MKDIRAT -> naming(slot, Tape.MKDIR, 0);
      case MUNMAP -> {
        if (!mappings().remove(slot, a, b)) {
          gap(slot, "a mapping was unmapped in part");
        }
      }
      case SYMLINK, SYMLINKAT -> gap(slot, "a symbolic link was made");
      case FOPEN -> gap(slot, "a native library opened a file by fopen");
      case MMAP, MREMAP, DLOPEN, DLSYM, FIND_ENTRY -> {}
    }
  }

  private static void opening(Slot slot, long flags) throws Throwable {
    if ((flags & TMPFILE) != 0) {
      gap(slot, "a file without a name was opened (O_TMPFILE)");
      return;
    }
    slot.existed = slot.exists(slot.first, slot.firstLength);
    long size = slot.existed ? slot.size() : 0;
    slot.record =
        ENTRIES.opening(
            slot.thread, slot.stack, slot.first, slot.firstLength, flags, slot.existed, size);
  }

  private static void writing(
      Slot slot, int fd, long given, long data, long length, long vector, long withFlags)
      throws Throwable {
    if (Libc.fstat(fd, slot.stat) != 0 || length <= 0) {
      return;
    }
    int flags = Libc.flags(fd);
    if ((flags & APPEND) != 0) {
      slot.offset = slot.size();
    } else {
      slot.offset = given >= 0 ? given : Libc.position(fd);
    }
    long at = begin(slot, Tape.WRITE, (int) length, 0);
    if (at == 0) {
      return;
    }
    MemorySegment memory = tape().memory();
    if (vector == 0) {
      MemorySegment.copy(Libc.ALL, data, memory, at + Tape.HEADER, length);
    } else {
      long to = at + Tape.HEADER;
      for (long left = length, entry = vector; left > 0; entry += 16) {
        long size = Libc.ALL.get(JAVA_LONG, entry + 8);
        MemorySegment.copy(Libc.ALL, Libc.ALL.get(JAVA_LONG, entry), memory, to, size);
        to += size;
        left -= size;
      }
    }
    slot.direct = (flags & DIRECT) != 0;
    slot.data = vector == 0 ? data : Libc.ALL.get(JAVA_LONG, vector);
    long first = vector == 0 ? length : Libc.ALL.get(JAVA_LONG, vector + 8);
    slot.half = slot.direct ? Math.min(length / 2, first) & -DIRECT_BLOCK : length / 2;
    boolean full = (flags & SYNC) == SYNC || (withFlags & 4) != 0;
    boolean dataOnly = (flags & DSYNC) != 0 || (withFlags & 2) != 0;
    ENTRIES.write(at, slot.inode(), slot.offset, length, full ? 2 : dataOnly ? 1 : 0);
  }

  private static long vectorLength(long vector, long count) {
    long sum = 0;
    for (int i = 0; i < (int) count; i++) {
      sum += Libc.ALL.get(JAVA_LONG, vector + 16L * i + 8);
    }
    return sum;
  }

  private static void sizing(Slot slot, int kind, long b, long c, long d) {
    slot.record = ENTRIES.size(slot.thread, slot.stack, kind, slot.inode(), b, c, d);
  }

  private static void copying(Slot slot, int fd, long offsetAt) throws Throwable {
    if (Libc.fstat(fd, slot.stat) == 0) {
      slot.before = slot.inode();
      boolean appends = (Libc.flags(fd) & APPEND) != 0;
      long given = offsetAt == 0 ? Libc.position(fd) : Libc.ALL.get(JAVA_LONG, offsetAt);
      slot.offset = appends ? slot.size() : given;
    }
  }

  private static void naming(Slot slot, int kind, long flags) {
    int text = slot.firstLength + (slot.secondLength == 0 ? 0 : 1 + slot.secondLength);
    long at = begin(slot, kind, 0, text);
    if (at != 0) {
      tape().put(at, 0, slot.first, slot.firstLength);
      if (slot.secondLength > 0) {
        tape().put(at, slot.firstLength, ZERO, 1);
        tape().put(at, slot.firstLength + 1, slot.second, slot.secondLength);
      }
      tape().set(at, Tape.B, flags);
      publish(slot, at);
    }
  }

  private static void gap(Slot slot, String what) {
    byte[] text = what.getBytes(StandardCharsets.UTF_8);
    ENTRIES.gap(slot.thread, slot.stack, text, slot.first, slot.firstLength);
    slot.record = 0;
  }

  private static void after(
      Slot slot, Call call, long result, int errno, long a, long b, long c, long d, long e, long f)
      throws Throwable {
    Tape tape = tape();
    long at = slot.record;
    switch (call) {
      case OPEN, OPEN_CHECKED, OPENAT, OPENAT_CHECKED, CREAT -> {
        if (at != 0 && (int) result >= 0 && Libc.fstat((int) result, slot.stat) == 0) {
          tape.set(at, Tape.A, slot.inode());
          KNOWN.add(slot.inode());
          if (slot.existed && (tape.getLong(at + Tape.B) & TRUNC) != 0) {
            mappings().zeroed(slot.inode(), 0, Long.MAX_VALUE);
          }
        }
      }
      case WRITE, PWRITE, WRITEV, PWRITEV, PWRITEV2 -> {
        if (at != 0 && result > 0) {
          long data = tape.memory().address() + at + Tape.HEADER;
          mappings().written(tape.getLong(at + Tape.A), slot.offset, data, result);
        }
      }
      case FTRUNCATE, TRUNCATE -> {
        if (at != 0 && (int) result == 0) {
          mappings().zeroed(tape.getLong(at + Tape.A), tape.getLong(at + Tape.B), Long.MAX_VALUE);
        }
      }
      case FALLOCATE -> {
        if (at != 0 && (int) result == 0 && (b & 0xFE) != 0) {
          mappings().zeroed(tape.getLong(at + Tape.A), c, c + d);
        }
      }
      case MKDIR, MKDIRAT -> {
        if (at != 0 && (int) result == 0 && slot.exists(slot.first, slot.firstLength)) {
          tape.set(at, Tape.A, slot.inode());
          KNOWN.add(slot.inode());
        }
      }
      case FSYNC -> forced(slot, (int) result, errno, slot.before, 1);
      case FDATASYNC -> forced(slot, (int) result, errno, slot.before, 0);
      case SYNC -> forced(slot, 0, errno, FORCE_ALL_FILES, 1);
      case SYNCFS -> forced(slot, (int) result, errno, FORCE_ALL_FILES, 1);
      case MSYNC -> {
        if ((c & MS_SYNC) != 0) {
          memoryForced(slot, (int) result, errno, a, b);
        }
      }
      case SENDFILE -> copied(slot, (int) a, result);
      case COPY_FILE_RANGE, SPLICE -> copied(slot, (int) c, result);
      case MMAP -> {
        if (result != -1 && Libc.fstat((int) e, slot.stat) == 0) {
          mapped(slot, result, b, f, slot.inode(), (int) e, slot.stack);
        }
      }
      case MREMAP -> {
        int index = mappings().at(a);
        if (result != -1 && index >= 0) {
          long offset = mappings().offset(index);
          long inode = mappings().inode(index);
          int file = mappings().file(index);
          int stack = mappings().stack(index);
          if (mappings().remove(slot, a, mappings().length(index))) {
            mapped(slot, result, c, offset, inode, file, stack);
            break;
          }
        }
        if (result != -1) {
          gap(slot, "a mapping was moved in part");
        }
      }
      default -> {}
    }
    if (at != 0) {
      tape.done(at, result, errno);
    }
  }

  private static void mapped(
      Slot slot, long at, long length, long offset, long inode, int file, int stack)
      throws Throwable {
    long whole = (length + Mappings.PAGE - 1) & -Mappings.PAGE;
    if (!mappings().add(slot, at, whole, offset, inode, file, stack)) {
      gap(slot, "a file was mapped that could not be watched");
      return;
    }
    ENTRIES.mapping(slot.thread, stack, inode);
  }

  private static void forced(Slot slot, int result, int errno, long inode, long metadata) {
    long at = ENTRIES.force(slot.thread, slot.stack, inode, slot.since, metadata);
    if (at != 0) {
      if (inode == FORCE_ALL_FILES) {
        var _ = CLOCK.addAndGet(KNOWN.count()); // a place for the force of each file
      }
      tape().done(at, slot.clean ? Tape.CLEANED : result, errno);
    }
    slot.record = 0;
  }

  private static void memoryForced(Slot slot, int result, int errno, long from, long size) {
    for (int i = 0; i < mappings().count(); i++) {
      long begins = mappings().fileFrom(i, from, size);
      if (begins < 0) {
        continue;
      }
      long ends = mappings().fileTo(i, from, size);
      ENTRIES.memoryForce(
          slot.thread,
          slot.stack,
          mappings().inode(i),
          slot.since,
          begins,
          ends,
          slot.clean ? Tape.CLEANED : result,
          errno);
    }
    slot.record = 0;
  }

  private static void copied(Slot slot, int fd, long result) throws Throwable {
    if (result <= 0) {
      return;
    }
    long at = begin(slot, Tape.WRITE, (int) result, 0);
    if (at == 0) {
      return;
    }
    long data = tape().memory().address() + at + Tape.HEADER;
    int file = slot.reopened(fd);
    long read = 0;
    while (file >= 0 && read < result) {
      long n = Libc.pread(file, data + read, result - read, slot.offset + read);
      if (n <= 0) {
        break;
      }
      read += n;
    }
    if (read < result) {
      throw new IllegalStateException("what was copied cannot be read back");
    }
    // The descriptor stays open: closing it would drop the process's fcntl locks on the file.
    ENTRIES.write(at, slot.before, slot.offset, result, /* sync= */ 0);
    tape().done(at, result, 0);
    mappings().written(slot.before, slot.offset, data, result);
    slot.record = 0;
  }

  private static long begin(Slot slot, int kind, int dataLength, int textLength) {
    long at = tape().begin(kind, dataLength, textLength, slot.thread, slot.stack);
    slot.record = at;
    return at;
  }

  private static void publish(Slot slot, long at) {
    tape().publish(at, CLOCK.incrementAndGet());
    slot.record = at;
  }

  private static void comparePages(boolean all) throws Throwable {
    mappings().sync(SLOTS.get(), all);
  }

  /** A page of mapped memory has changed. Called with the lock held. */
  static void storedPage(Slot slot, long inode, long offset, long data, int size, int stack) {
    if (ENTRIES.page(slot.thread, stack, inode, offset, Libc.ALL, data, size)) {
      mappings().written(inode, offset, data, size); // other mappings of the same file
    }
  }

  /** Order, promises and controls of this JVM. */
  static Journal journal() {
    return JOURNAL;
  }
}
