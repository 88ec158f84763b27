package org.revenantdb.chaos.hooks;

import static java.lang.foreign.ValueLayout.JAVA_BYTE;
import static java.lang.foreign.ValueLayout.JAVA_CHAR;
import static java.lang.foreign.ValueLayout.JAVA_LONG_UNALIGNED;

import java.io.File;
import java.io.FileDescriptor;
import java.io.FileInputStream;
import java.io.FileOutputStream;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.lang.foreign.MemorySegment;
import java.nio.charset.Charset;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.agent.Bridge;
import org.revenantdb.chaos.agent.CallListener;
import org.revenantdb.chaos.agent.FileAgent;
import org.revenantdb.chaos.agent.FileCall;
import org.revenantdb.chaos.agent.Internals;
import org.revenantdb.chaos.agent.NativeCalls;
import org.revenantdb.chaos.hooks.Names.Node;

/**
 * Records what Java code does to the files of the directory under test: every native method for
 * files is reported by the {@link FileAgent}, and goes to the {@link Tape} (§59).
 *
 * <p>Threads: any. Failure: nothing is thrown into the program. If an operation cannot be recorded,
 * it is carried out and {@link Tape#FAILED} is set; the run is then not measured.
 */
final class AgentFiles implements ProcessRecorder, CallListener {
  /*
   * Order       The lock is held from `before` to `after` of an operation, so that the order of
   *             places is the order of effects. A force holds it only while it takes its places.
   * Identity    `open` has the file of each descriptor that was opened below the directory. A
   *             descriptor leaves it before it is closed, so before its number is used again. The
   *             lock is held while it is closed: an operation finds it open, or not at all.
   * Names       Where a directory is now is asked of the tree, not of the path it was opened by.
   * Reentry     What the recorder does itself goes past it: `Mine.inside`.
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

  /** For tests of the trial: a native method whose calls are taken for nothing. */
  private static final String UNSEEN = "revenant.chaos.unseen";

  private static final int MAP_FOR_WRITING = 1;
  private static final int DATA_ONLY = 1;
  private static final int WITH_METADATA = 2;
  private static final long MOST_COPIED = 1 << 30;

  private static final Charset NAMES =
      Charset.forName(System.getProperty("sun.jnu.encoding", "UTF-8"));

  private static final boolean WINDOWS = System.getProperty("os.name").startsWith("Windows");
  private static final boolean LINUX = System.getProperty("os.name").equals("Linux");

  private final Journal journal = new Journal(_ -> pages().compare());
  private final Stacks stacks = new Stacks(journal);
  private final ThreadLocal<Mine> mine = ThreadLocal.withInitial(Mine::new);
  private final Map<Long, Opened> open = new ConcurrentHashMap<>();

  /** All of the process's memory. */
  private final MemorySegment processMemory;

  private final SharedPages pages;
  private Names names = new Names();
  private FileCall[] meanings = {};
  private @Nullable Internals theInternals;
  private int append;
  private int creat;
  private int trunc;
  private int sync;
  private int dsync;

  private RootPaths paths = new RootPaths("/", "/");
  private int threads;
  private int records;
  private volatile boolean on;

  /** What a thread has. */
  private static final class Mine {
    private boolean inside;
    private int thread;

    /** The record that the number is in. */
    private int record;
  }

  /**
   * An open file.
   *
   * @param path below the directory when it was opened, for reports; it may have another name now
   * @param append whether each write goes to the end
   * @param sync as on the tape: 0, or what each write forces
   */
  private record Opened(Node node, String path, boolean append, int sync) {}

  /** A call that has begun. */
  private static final class Begun {
    private final FileCall call;
    private final Mine by;
    private final int stack;
    private boolean locked;
    private long record;
    private long since;
    private @Nullable Object object;
    private @Nullable FileDescriptor from;
    private @Nullable FileDescriptor to;
    private @Nullable Opened file;
    private @Nullable Node node;
    private String path = "";
    private String other = "";

    /** What a trace cannot have, if the call succeeds; empty: it can be recorded. */
    private String gap = "";

    private int flags;
    private int sync;
    private boolean append;
    private long a;
    private long b;
    private long offset;
    private long length;
    private long source;

    Begun(FileCall call, Mine by, int stack) {
      this.call = call;
      this.by = by;
      this.stack = stack;
    }
  }

  private SharedPages pages() {
    return pages;
  }

  private Internals internals() {
    Internals internals = theInternals;
    if (internals == null) {
      throw new IllegalStateException();
    }
    return internals;
  }

  /** Makes a recorder for the agent, which {@link #install} asks what the numbers mean. */
  @SuppressWarnings("restricted") // this JVM was started with native access for that
  AgentFiles() {
    this(MemorySegment.NULL.reinterpret(Long.MAX_VALUE), List.of());
  }

  /**
   * Makes a recorder of calls that a test makes.
   *
   * @param memory has the arguments that calls have by address
   * @param meanings each has the number of its place here
   */
  AgentFiles(MemorySegment memory, List<FileCall> meanings) {
    this.processMemory = memory;
    this.meanings = meanings.toArray(FileCall[]::new);
    this.pages = new SharedPages(memory, this::storedPage);
  }

  @Override
  public void install(Path trial, Tape onto) throws Throwable {
    FileAgent agent = FileAgent.install();
    theInternals = agent.internals();
    if (!WINDOWS) {
      append = Internals.constant("O_APPEND");
      creat = Internals.constant("O_CREAT");
      trunc = Internals.constant("O_TRUNC");
      sync = Internals.constant("O_SYNC");
      dsync = Internals.constant("O_DSYNC");
    }
    Bridge.listener(this);
    listen(agent.calls(), System.getProperty(UNSEEN, ""));
    String failure = tried(trial, onto);
    if (!failure.isEmpty()) {
      throw new UnsupportedOperationException(failure);
    }
  }

  /**
   * Sets what the numbers of calls mean.
   *
   * @param calls each has the number of its place here
   * @param unseen a native method whose calls are left out, for tests; none has an empty name
   */
  void listen(List<NativeCalls.Line> calls, String unseen) {
    meanings =
        calls.stream()
            .map(call -> call.toString().equals(unseen) ? FileCall.NOTHING : call.meaning())
            .toArray(FileCall[]::new);
  }

  /**
   * Makes a trial.
   *
   * @param trial an empty directory of its own
   * @param onto receives its record
   * @return what was not recorded; an empty text if all was
   */
  String tried(Path trial, Tape onto) throws IOException {
    onto.reset();
    begin(trial, onto);
    List<String> unseen = Trial.use(trial, onto, this::forgets);
    on = false;
    return unseen.isEmpty() && onto.lost() == 0
        ? ""
        : "the agent did not see what the trial did: %s (lost: %d)"
            .formatted(String.join("; ", unseen), onto.lost());
  }

  /** Forgets open files and mappings; whether there were some. */
  private boolean forgets() {
    journal.lock().lock();
    try {
      boolean forgot = !open.isEmpty() || !pages.isEmpty();
      open.clear();
      pages.clear();
      return forgot;
    } finally {
      journal.lock().unlock();
    }
  }

  @Override
  public void start(Path under, Tape onto, Faults injected, boolean countsOpenings) {
    if (injected != Faults.NOTHING || countsOpenings) {
      throw new UnsupportedOperationException("faults need native hooks");
    }
    onto.reset();
    journal.clock().set(0);
    begin(under, onto);
  }

  @Override
  public void continueIn(Path under, Tape onto, long lastPlace, List<Path> existing) {
    throw new UnsupportedOperationException("faults need native hooks");
  }

  @Override
  public Journal journal() {
    return journal;
  }

  @Override
  public void end(int code) {
    Runtime.getRuntime().halt(code);
  }

  private void begin(Path under, Tape onto) {
    journal.use(onto);
    paths = new RootPaths(under.toString(), System.getProperty("user.dir"));
    var _ = forgets();
    names = new Names();
    stacks.reset();
    journal.root(names.root().number());
    threads = 0;
    records++;
    announce(mine.get());
    on = true;
  }

  private void announce(Mine by) {
    by.thread = ++threads;
    by.record = records;
    journal.note(
        Tape.THREAD, by.thread, Thread.currentThread().getName().getBytes(StandardCharsets.UTF_8));
  }

  // ---- calls

  @Override
  public @Nullable Object before(
      int number,
      @Nullable Object one,
      @Nullable Object two,
      @Nullable Object three,
      long a,
      long b,
      long c,
      long d,
      long e,
      long f) {
    if (!on) {
      return null;
    }
    Mine by;
    try {
      by = mine.get();
    } catch (Throwable t) {
      journal.lost(t);
      return null;
    }
    if (by.inside) {
      return null;
    }
    by.inside = true;
    int held = journal.lock().getHoldCount(); // a control holds it
    Begun begun = null;
    try {
      begun = begun(meanings[number], by, one, two, three, a, b, c, d, e, f);
      if (begun != null) {
        record(begun, one, two, a, b, c);
        if (begun.call == FileCall.FORCE
            || begun.call == FileCall.FORCE_DESCRIPTOR
            || begun.call == FileCall.FORCE_MEMORY) {
          unlock(begun);
        }
      }
    } catch (Throwable t) {
      while (journal.lock().getHoldCount() > held) {
        journal.lock().unlock();
      }
      journal.lost(t);
      begun = null;
    } finally {
      by.inside = false;
    }
    return begun;
  }

  private void lock(Begun begun) {
    journal.lock().lock();
    begun.locked = true;
    if (begun.by.record != records) {
      announce(begun.by);
    }
  }

  private void unlock(@Nullable Begun begun) {
    if (begun != null && begun.locked) {
      begun.locked = false;
      journal.lock().unlock();
    }
  }

  /** Whether the call concerns the directory, and if so, of which files. */
  private @Nullable Begun begun(
      FileCall call,
      Mine by,
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
        Begun begun =
            opening(
                call,
                by,
                one,
                text(two),
                (a & RANDOM_RDWR) != 0 ? Tape.CREAT : 0,
                (a & RANDOM_SYNC) != 0 ? WITH_METADATA : (a & RANDOM_DSYNC) != 0 ? DATA_ONLY : 0,
                false);
        yield WINDOWS && begun != null && (a & RANDOM_TEMPORARY) != 0
            ? gap(begun, "a file is deleted when it is closed")
            : begun;
      }
      case OPEN_PATH -> openingUnix(call, by, path(a), b);
      case OPEN_PATH_AT -> at(call, by, a, b, path -> openingUnix(call, by, path, c));
      case OPEN_WINDOWS -> {
        boolean appends = (b & WINDOWS_APPEND_DATA) != 0 && (b & WINDOWS_WRITE_DATA) == 0;
        Begun begun =
            opening(
                call,
                by,
                null,
                path(a),
                WINDOWS_DISPOSITIONS[(int) e],
                (f & WINDOWS_WRITE_THROUGH) != 0 ? WITH_METADATA : 0,
                appends);
        yield begun != null && (f & WINDOWS_DELETE_ON_CLOSE) != 0
            ? gap(begun, "a file is deleted when it is closed")
            : begun;
      }
      case DUPLICATE -> of(call, by, a);
      case CLOSE_DESCRIPTOR -> closing(call, by, one, 0);
      case CLOSE_NUMBER -> closing(call, by, null, a);
      case CLOSE_NUMBER_OR_HANDLE -> closing(call, by, null, WINDOWS ? b : a);
      case WRITE_BYTE, WRITE_BYTES, SET_LENGTH -> of(call, by, descriptor(one));
      case WRITE, WRITE_AT, WRITE_VECTOR, TRUNCATE, FORCE_DESCRIPTOR, FORCE, MAP ->
          of(call, by, one);
      case WRITE_NUMBER, TRUNCATE_HERE, COPY_DESCRIPTORS -> of(call, by, a);
      case WRITE_LATER -> {
        Begun begun = of(call, by, a);
        yield begun == null ? null : gap(begun, "a file was written to by an asynchronous channel");
      }
      case TRANSFER_TO, TRANSFER_FROM -> of(call, by, two);
      case FORCE_MEMORY, UNMAP -> {
        Begun begun = new Begun(call, by, stacks.here());
        begun.a = a;
        begun.b = b;
        lock(begun);
        if (pages.overlaps(a, b)) {
          yield begun;
        }
        unlock(begun);
        yield null;
      }
      case CLONE_PATH -> naming(call, by, path(b), "");
      case CREATE_FILE, CREATE_DIRECTORY, DELETE_FILE -> naming(call, by, text(two), "");
      case RENAME_FILE -> naming(call, by, text(two), text(three));
      case CREATE_DIRECTORY_PATH, DELETE_PATH -> naming(call, by, path(a), "");
      case DELETE_PATH_AT -> at(call, by, a, b, path -> naming(call, by, path, ""));
      case RENAME_PATHS, LINK_PATHS -> naming(call, by, path(a), path(b));
      case RENAME_PATHS_AT ->
          at(call, by, a, b, path -> at(call, by, c, d, other -> naming(call, by, path, other)));
      case LINK_PATHS_WINDOWS -> naming(call, by, path(b), path(a));
      case MAKE_SYMBOLIC_LINK -> {
        Begun begun = naming(call, by, path(b), "");
        yield begun == null ? null : gap(begun, "a symbolic link was made");
      }
      case MAKE_SYMBOLIC_LINK_WINDOWS, MAKE_OTHER -> {
        Begun begun = naming(call, by, path(a), "");
        yield begun == null ? null : gap(begun, "a symbolic link or special file was made");
      }
    };
  }

  private @Nullable Begun of(FileCall call, Mine by, long number) {
    return of(call, by, null, number);
  }

  private @Nullable Begun of(FileCall call, Mine by, @Nullable Object descriptor) {
    return of(call, by, descriptor, numberOf(descriptor));
  }

  private @Nullable Begun of(FileCall call, Mine by, @Nullable Object descriptor, long number) {
    if (opened(number) == null) {
      return null;
    }
    Begun begun = new Begun(call, by, stacks.here());
    lock(begun);
    // Another thread may have closed it before this one got the lock: then the call fails.
    Opened file = opened(descriptor == null ? number : numberOf(descriptor));
    if (file == null) {
      unlock(begun);
      return null;
    }
    begun.file = file;
    begun.node = file.node;
    return begun;
  }

  private @Nullable Opened opened(long number) {
    return number < 0 && !WINDOWS ? null : open.get(number);
  }

  /** The descriptor is forgotten under the lock, which is held until it is closed. */
  private @Nullable Begun closing(
      FileCall call, Mine by, @Nullable Object descriptor, long number) {
    if (opened(descriptor == null ? number : numberOf(descriptor)) == null) {
      return null;
    }
    Begun begun = new Begun(call, by, /* stack= */ 0);
    journal.lock().lock(); // a thread that only closes files is not announced
    begun.locked = true;
    var _ = open.remove(descriptor == null ? number : numberOf(descriptor));
    return begun;
  }

  /** A call with a name in a directory that is open. Where that is now is known under the lock. */
  private @Nullable Begun at(
      FileCall call,
      Mine by,
      long directory,
      long address,
      Function<String, @Nullable Begun> withPath) {
    journal.lock().lock();
    try {
      String path = path(address);
      Opened in = opened(directory);
      String known = RootPaths.isAbsolute(path) ? "" : in == null ? realDirectory(directory) : null;
      if (known == null && in != null) {
        String now = names.path(in.node);
        known = now == null ? null : paths.shown(now);
      }
      if (known == null) {
        Begun begun = new Begun(call, by, stacks.here());
        begun.path = path;
        lock(begun);
        return gap(begun, "a name was used in an open directory that the record does not know");
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

  private @Nullable Begun openingUnix(FileCall call, Mine by, String path, long given) {
    int flags = ((given & creat) != 0 ? Tape.CREAT : 0) | ((given & trunc) != 0 ? Tape.TRUNC : 0);
    int forces = isSet(given, sync) ? WITH_METADATA : isSet(given, dsync) ? DATA_ONLY : 0;
    return opening(call, by, null, path, flags, forces, (given & append) != 0);
  }

  private static boolean isSet(long flags, int bits) {
    return bits != 0 && (flags & bits) == bits;
  }

  private @Nullable Begun opening(
      FileCall call,
      Mine by,
      @Nullable Object object,
      String path,
      int flags,
      int forces,
      boolean appends) {
    if (paths.inside(path, /* isFollowed= */ true) == null) {
      return null;
    }
    Begun begun = new Begun(call, by, stacks.here());
    lock(begun);
    // Another thread may have renamed a directory before this one got the lock.
    String absolute = paths.inside(path, /* isFollowed= */ true);
    if (absolute == null) {
      unlock(begun);
      return null;
    }
    begun.object = object;
    begun.path = paths.below(absolute);
    begun.flags = flags;
    begun.sync = forces;
    begun.append = appends;
    return begun;
  }

  private @Nullable Begun naming(FileCall call, Mine by, String path, String other) {
    if (!paths.isInside(named(path)) && !paths.isInside(named(other))) {
      return null;
    }
    Begun begun = new Begun(call, by, stacks.here());
    lock(begun);
    begun.path = named(path);
    begun.other = named(other);
    if (!paths.isInside(begun.path) && !paths.isInside(begun.other)) {
      unlock(begun);
      return null;
    }
    return begun;
  }

  /** What a path names, which may be elsewhere. */
  private String named(String path) {
    if (path.isEmpty()) {
      return "";
    }
    String inside = paths.inside(path, /* isFollowed= */ false);
    return inside != null ? inside : "elsewhere: " + path;
  }

  /** Something that a trace cannot have, if the call succeeds. */
  private static Begun gap(Begun begun, String what) {
    begun.gap = what;
    return begun;
  }

  private void recordGap(Begun begun, String what) {
    byte[] text = what.getBytes(StandardCharsets.UTF_8);
    byte[] path = begun.path.getBytes(StandardCharsets.UTF_8);
    Tape tape = journal.tape();
    long at = tape.begin(Tape.GAP, text.length, path.length, begun.by.thread, begun.stack);
    if (at != 0) {
      tape.put(at, 0, text, text.length);
      tape.put(at, text.length, path, path.length);
      tape.publish(at, journal.clock().incrementAndGet());
      tape.done(at, 0, 0);
    }
  }

  /** Writes the operation, before it is carried out. */
  private void record(
      Begun begun, @Nullable Object one, @Nullable Object two, long a, long b, long c)
      throws Throwable {
    if (isClosing(begun)) {
      return;
    }
    journal.look(begun.by.thread, begun.stack, /* all= */ true);
    if (!begun.gap.isEmpty()) {
      return;
    }
    switch (begun.call) {
      case OPEN_INPUT, OPEN_OUTPUT, OPEN_RANDOM, OPEN_PATH, OPEN_PATH_AT, OPEN_WINDOWS ->
          recordOpening(begun);
      case CREATE_FILE -> {
        begun.flags = Tape.CREAT;
        begun.path = paths.below(begun.path);
        recordOpening(begun);
      }
      case WRITE_BYTE ->
          recordWrite(begun, descriptor(one), MemorySegment.ofArray(new byte[] {(byte) a}));
      case WRITE_BYTES -> {
        if (two instanceof byte[] bytes && a >= 0 && b > 0 && a + b <= bytes.length) {
          recordWrite(begun, descriptor(one), MemorySegment.ofArray(bytes).asSlice(a, b));
        }
      }
      case WRITE -> {
        begun.append |= c != 0;
        recordWrite(begun, asDescriptor(one), processMemory.asSlice(a, b));
      }
      case WRITE_AT -> {
        // Linux ignores the position of a write to a file that is open for appending.
        begun.offset = LINUX && opened(begun).append ? internals().size(asDescriptor(one)) : c;
        recordWriteAt(begun, processMemory.asSlice(a, b));
      }
      case WRITE_VECTOR -> {
        begun.append |= c != 0;
        recordVector(begun, asDescriptor(one), a, b);
      }
      case WRITE_NUMBER ->
          recordWrite(begun, internals().descriptor(a), processMemory.asSlice(b, c));
      case SET_LENGTH, TRUNCATE -> recordSize(begun, a);
      case TRUNCATE_HERE -> recordSize(begun, internals().position(internals().descriptor(a)));
      case FORCE_DESCRIPTOR -> {
        begun.flags = 1;
        begun.since = journal.clock().incrementAndGet();
      }
      case FORCE -> {
        begun.flags = a != 0 ? 1 : 0;
        begun.since = journal.clock().incrementAndGet();
      }
      case FORCE_MEMORY -> begun.since = journal.clock().incrementAndGet();
      case MAP -> {
        begun.a = a;
        begun.offset = b;
        begun.length = c;
      }
      case UNMAP -> pages.remove(begun.a, begun.b);
      case TRANSFER_TO -> {
        begun.from = asDescriptor(one);
        begun.to = asDescriptor(two);
        begun.source = a;
        begun.offset =
            opened(begun).append
                ? internals().size(asDescriptor(two))
                : internals().position(asDescriptor(two));
      }
      case TRANSFER_FROM -> {
        begun.from = asDescriptor(one);
        begun.to = asDescriptor(two);
        begun.source = internals().position(asDescriptor(one));
        begun.offset = a;
      }
      case COPY_DESCRIPTORS -> {
        begun.to = internals().descriptor(a);
        begun.from = internals().descriptor(b);
        begun.offset = internals().position(begun.to);
        begun.source = internals().position(begun.from);
      }
      case CREATE_DIRECTORY, CREATE_DIRECTORY_PATH -> recordNames(begun, Tape.MKDIR);
      case DELETE_FILE, DELETE_PATH, DELETE_PATH_AT -> recordNames(begun, Tape.UNLINK);
      case RENAME_FILE, RENAME_PATHS, RENAME_PATHS_AT -> recordNames(begun, Tape.RENAME);
      case LINK_PATHS, LINK_PATHS_WINDOWS -> recordNames(begun, Tape.LINK);
      case CLONE_PATH -> {
        begun.path = paths.below(begun.path);
        find(begun);
      }
      case DUPLICATE -> {}
      default -> throw new IllegalStateException("a call that is not recorded: " + begun.call);
    }
  }

  private static boolean isClosing(Begun begun) {
    return switch (begun.call) {
      case CLOSE_DESCRIPTOR, CLOSE_NUMBER, CLOSE_NUMBER_OR_HANDLE -> true;
      default -> false;
    };
  }

  private static Opened opened(Begun begun) {
    Opened file = begun.file;
    if (file == null) {
      throw new IllegalStateException();
    }
    return file;
  }

  private static Node node(Begun begun) {
    Node node = begun.node;
    if (node == null) {
      throw new IllegalStateException();
    }
    return node;
  }

  private void recordOpening(Begun begun) {
    find(begun);
    if (begun.flags != 0) { // as with hooks, openings that change nothing are not recorded
      beginOpening(begun);
    }
  }

  /** Looks up the file before the call, because afterwards one may have been created. */
  private void find(Begun begun) {
    begun.node = names.find(begun.path);
    if (begun.node == null && Files.exists(paths.real(begun.path), LinkOption.NOFOLLOW_LINKS)) {
      unknown(begun);
    }
  }

  private void unknown(Begun begun) {
    Begun unknown = new Begun(begun.call, begun.by, begun.stack);
    unknown.path = paths.shown(begun.path);
    recordGap(unknown, "a file was opened whose name the record does not know");
  }

  private void beginOpening(Begun begun) {
    byte[] path = paths.shown(begun.path).getBytes(StandardCharsets.UTF_8);
    long at = begin(begun, Tape.OPEN, 0, path.length);
    if (at != 0) {
      Tape tape = journal.tape();
      tape.put(at, 0, path, path.length);
      tape.set(at, Tape.B, begun.flags);
      tape.set(at, Tape.C, begun.node == null ? 0 : 1);
      tape.set(at, Tape.D, begun.node == null ? 0 : begun.node.size());
      publish(at);
    }
  }

  private void recordWrite(Begun begun, FileDescriptor to, MemorySegment bytes) throws Throwable {
    begun.append |= opened(begun).append;
    begun.to = to;
    begun.offset = begun.append ? internals().size(to) : internals().position(to);
    recordWriteAt(begun, bytes);
  }

  private void recordVector(Begun begun, FileDescriptor to, long vector, long count)
      throws Throwable {
    long sum = 0;
    for (long i = 0; i < count; i++) {
      sum += processMemory.get(JAVA_LONG_UNALIGNED, vector + 16 * i + 8);
    }
    byte[] bytes = new byte[Math.toIntExact(sum)];
    int at = 0;
    for (long i = 0; i < count; i++) {
      int length = (int) processMemory.get(JAVA_LONG_UNALIGNED, vector + 16 * i + 8);
      long from = processMemory.get(JAVA_LONG_UNALIGNED, vector + 16 * i);
      MemorySegment.copy(processMemory, JAVA_BYTE, from, bytes, at, length);
      at += length;
    }
    recordWrite(begun, to, MemorySegment.ofArray(bytes));
  }

  private void recordWriteAt(Begun begun, MemorySegment bytes) {
    long length = bytes.byteSize();
    if (length == 0 || node(begun).isDirectory()) {
      return;
    }
    begun.length = length;
    long at = begin(begun, Tape.WRITE, Math.toIntExact(length), 0);
    if (at != 0) {
      Tape tape = journal.tape();
      MemorySegment.copy(bytes, 0, tape.memory(), at + Tape.HEADER, length);
      tape.set(at, Tape.A, node(begun).number());
      tape.set(at, Tape.B, begun.offset);
      tape.set(at, Tape.C, length);
      tape.set(at, Tape.D, opened(begun).sync);
      publish(at);
      if (opened(begun).sync != 0) {
        journal.clock().incrementAndGet(); // the place of its force
      }
    }
  }

  private void recordSize(Begun begun, long size) {
    begun.length = size;
    long at = begin(begun, Tape.FTRUNCATE, 0, 0);
    if (at != 0) {
      journal.tape().set(at, Tape.A, node(begun).number());
      journal.tape().set(at, Tape.B, size);
      journal.tape().set(at, Tape.D, node(begun).size());
      publish(at);
    }
  }

  private void recordNames(Begun begun, int kind) {
    String text =
        begun.other.isEmpty()
            ? paths.inTrace(begun.path)
            : paths.inTrace(begun.path) + "\0" + paths.inTrace(begun.other);
    byte[] bytes = text.getBytes(StandardCharsets.UTF_8);
    long at = begin(begun, kind, 0, bytes.length);
    if (at != 0) {
      journal.tape().put(at, 0, bytes, bytes.length);
      publish(at);
    }
  }

  private long begin(Begun begun, int kind, int data, int text) {
    begun.record = journal.tape().begin(kind, data, text, begun.by.thread, begun.stack);
    return begun.record;
  }

  private void publish(long at) {
    journal.tape().publish(at, journal.clock().incrementAndGet());
  }

  // ---- behind the call

  @Override
  public void after(Object token, long result) {
    ended(token, result, /* thrown= */ false);
  }

  @Override
  public void failed(Object token) {
    ended(token, -1, /* thrown= */ true);
  }

  private void ended(Object token, long result, boolean thrown) {
    Begun begun = (Begun) token;
    begun.by.inside = true;
    try {
      if (!begun.locked) {
        lock(begun);
      }
      long done = begun.gap.isEmpty() ? carriedOut(begun, result, thrown) : 0;
      if (!begun.gap.isEmpty() && succeeded(begun.call, result, thrown)) {
        recordGap(begun, begun.gap);
      }
      if (begun.record != 0) {
        journal.tape().done(begun.record, done, 0);
      }
    } catch (Throwable t) {
      journal.lost(t);
    } finally {
      begun.by.inside = false;
      unlock(begun);
    }
  }

  private static boolean succeeded(FileCall call, long result, boolean thrown) {
    return switch (call) {
      case OPEN_PATH, OPEN_PATH_AT, OPEN_WINDOWS -> !thrown && result != -1;
      case CREATE_FILE, CREATE_DIRECTORY, DELETE_FILE, RENAME_FILE -> !thrown && result != 0;
      case CLONE_PATH -> !thrown && result == 0;
      default -> !thrown;
    };
  }

  /** Notes what has happened; returns the result for the tape: 0, a length, or -1. */
  private long carriedOut(Begun begun, long result, boolean thrown) throws Throwable {
    return switch (begun.call) {
      case OPEN_INPUT, OPEN_OUTPUT, OPEN_RANDOM ->
          thrown ? -1 : openedAs(begun, numberOf(descriptor(begun.object)));
      case OPEN_PATH, OPEN_PATH_AT, OPEN_WINDOWS ->
          thrown || result == -1 ? -1 : openedAs(begun, result);
      case CREATE_FILE -> {
        if (thrown || result == 0) {
          yield -1;
        }
        created(begun, begun.path, /* isDirectory= */ false);
        yield 0;
      }
      case DUPLICATE -> {
        if (!thrown) {
          open.put(result, opened(begun));
        }
        yield 0;
      }
      case WRITE_BYTE, WRITE_BYTES ->
          written(begun, thrown && begun.length > 0 ? writtenUntilFailure(begun) : begun.length);
      case WRITE, WRITE_AT, WRITE_VECTOR, WRITE_NUMBER -> written(begun, result);
      case SET_LENGTH, TRUNCATE, TRUNCATE_HERE -> {
        if (thrown || result < 0) {
          yield -1;
        }
        node(begun).size(begun.length);
        pages.zeroed(node(begun), begun.length);
        yield 0;
      }
      case FORCE_DESCRIPTOR, FORCE -> forced(begun, thrown || result < 0 ? -1 : 0);
      case FORCE_MEMORY -> memoryForced(begun, thrown ? -1 : 0);
      case MAP -> {
        if (!thrown && begun.a == MAP_FOR_WRITING) {
          mapped(begun, result);
        }
        yield 0;
      }
      case TRANSFER_TO, TRANSFER_FROM -> copied(begun, thrown ? 0 : result);
      case COPY_DESCRIPTORS -> {
        FileDescriptor to = begun.to;
        yield to == null ? 0 : copied(begun, internals().size(to) - begun.offset);
      }
      case CLONE_PATH -> thrown || result != 0 ? 0 : cloned(begun);
      case CREATE_DIRECTORY -> thrown || result == 0 ? -1 : directoryCreated(begun);
      case CREATE_DIRECTORY_PATH -> thrown ? -1 : directoryCreated(begun);
      case DELETE_FILE -> thrown || result == 0 ? -1 : deleted(begun);
      case DELETE_PATH, DELETE_PATH_AT -> thrown ? -1 : deleted(begun);
      case RENAME_FILE -> thrown || result == 0 ? -1 : renamed(begun);
      case RENAME_PATHS, RENAME_PATHS_AT -> thrown ? -1 : renamed(begun);
      case LINK_PATHS, LINK_PATHS_WINDOWS -> {
        if (thrown) {
          yield -1;
        }
        Node node = paths.isInside(begun.path) ? names.find(paths.below(begun.path)) : null;
        if (node != null && paths.isInside(begun.other)) {
          names.put(paths.below(begun.other), node);
        }
        yield 0;
      }
      default -> 0;
    };
  }

  private long openedAs(Begun begun, long number) {
    if (begun.node == null) {
      if ((begun.flags & Tape.CREAT) == 0) {
        unknown(begun); // it has no name, or one that was made by other means
      }
      created(begun, begun.path, /* isDirectory= */ false);
    } else if (begun.record != 0) {
      journal.tape().set(begun.record, Tape.A, begun.node.number());
      if ((begun.flags & Tape.TRUNC) != 0) {
        begun.node.size(0);
        pages.zeroed(begun.node, 0);
      }
    }
    open.put(number, new Opened(node(begun), begun.path, begun.append, begun.sync));
    return 0;
  }

  private void created(Begun begun, String below, boolean isDirectory) {
    Node made = names.create(below, isDirectory);
    begun.node = made;
    if (begun.record != 0) {
      journal.tape().set(begun.record, Tape.A, made.number());
    }
  }

  private long directoryCreated(Begun begun) {
    created(begun, paths.below(begun.path), /* isDirectory= */ true);
    return 0;
  }

  private long deleted(Begun begun) {
    names.remove(paths.below(begun.path));
    return 0;
  }

  private long renamed(Begun begun) {
    Node node = paths.isInside(begun.path) ? names.find(paths.below(begun.path)) : null;
    Node replaced = paths.isInside(begun.other) ? names.find(paths.below(begun.other)) : null;
    if (node != null && node == replaced) {
      return 0; // two names of one file: nothing happens
    }
    if (node != null) {
      names.remove(paths.below(begun.path));
      if (paths.isInside(begun.other)) {
        names.put(paths.below(begun.other), node);
      }
    }
    return 0;
  }

  private long written(Begun begun, long result) {
    if (result > 0 && begun.record != 0) {
      Node node = node(begun);
      node.size(Math.max(node.size(), begun.offset + result));
      pages.written(
          node, begun.offset, journal.tape().memory().asSlice(begun.record + Tape.HEADER, result));
    }
    return Math.max(result, -1); // the JDK has other negative results, and so has the tape
  }

  /** A stream writes long arrays in pieces, and the last one failed. */
  private long writtenUntilFailure(Begun begun) throws Throwable {
    FileDescriptor to = begun.to;
    if (to == null) {
      return -1;
    }
    long end = begun.append ? internals().size(to) : internals().position(to);
    return end > begun.offset ? end - begun.offset : -1;
  }

  private long forced(Begun begun, long result) {
    long at = begin(begun, Tape.FSYNC, 0, 0);
    if (at != 0) {
      journal.tape().set(at, Tape.A, node(begun).number());
      journal.tape().set(at, Tape.B, begun.since);
      journal.tape().set(at, Tape.C, begun.flags);
      publish(at);
    }
    return result;
  }

  /** Every page may become a write and a force of its own, so it takes two places for each. */
  private long memoryForced(Begun begun, long result) {
    Tape tape = journal.tape();
    for (SharedPages.Range range : pages.ranges(begun.a, begun.b)) {
      long at = begin(begun, Tape.MSYNC, 0, 0);
      if (at != 0) {
        tape.set(at, Tape.A, range.file().number());
        tape.set(at, Tape.B, begun.since);
        tape.set(at, Tape.C, range.from());
        tape.set(at, Tape.D, range.to());
        publish(at);
        var _ = journal.clock().addAndGet(2 * ((range.to() - range.from()) / SharedPages.PAGE + 2));
        tape.done(at, result, 0);
      }
    }
    begun.record = 0;
    return result;
  }

  private void mapped(Begun begun, long address) {
    long whole = (begun.length + SharedPages.PAGE - 1) & -SharedPages.PAGE;
    if (!pages.add(address, whole, begun.offset, node(begun), begun.stack)) {
      begun.path = paths.shown(opened(begun).path);
      Begun unseen = new Begun(begun.call, begun.by, begun.stack);
      unseen.path = begun.path;
      recordGap(unseen, "more memory was mapped than can be compared");
      return;
    }
    Tape tape = journal.tape();
    long at = tape.begin(Tape.MMAP, 0, 0, begun.by.thread, begun.stack);
    if (at != 0) {
      tape.set(at, Tape.A, node(begun).number());
      tape.publish(at, 0);
      tape.done(at, 0, 0);
    }
  }

  /** Bytes went from one file to another; they are read from the source. */
  private long copied(Begun begun, long length) throws Throwable {
    FileDescriptor from = begun.from;
    if (length <= 0 || from == null || node(begun).isDirectory()) {
      return 0;
    }
    if (length > MOST_COPIED) {
      journal.tape().lose(Tape.FULL);
      return 0;
    }
    long at = begin(begun, Tape.WRITE, (int) length, 0);
    if (at == 0) {
      return 0;
    }
    long data = journal.tape().memory().address() + at + Tape.HEADER;
    for (long read = 0; read < length; ) {
      int n = internals().read(from, data + read, (int) (length - read), begun.source + read);
      if (n <= 0) {
        throw new IOException("what was copied cannot be read");
      }
      read += n;
    }
    publishWrite(begun, at, length);
    return length;
  }

  private void publishWrite(Begun begun, long at, long length) {
    Tape tape = journal.tape();
    tape.set(at, Tape.A, node(begun).number());
    tape.set(at, Tape.B, begun.offset);
    tape.set(at, Tape.C, length);
    publish(at);
    written(begun, length);
  }

  /** A new file with a content. It was not open in this process, so it may be opened and closed. */
  private long cloned(Begun begun) throws IOException {
    begun.flags = Tape.CREAT | Tape.TRUNC;
    byte[] content = Files.readAllBytes(paths.real(begun.path));
    beginOpening(begun);
    openingOfClone(begun);
    if (content.length > 0) {
      long at = begin(begun, Tape.WRITE, content.length, 0);
      if (at != 0) {
        journal.tape().put(at, 0, content, content.length);
        publishWrite(begun, at, content.length);
      }
    }
    return content.length;
  }

  private void openingOfClone(Begun begun) {
    Node existing = begun.node;
    if (existing == null) {
      created(begun, begun.path, /* isDirectory= */ false);
    } else {
      journal.tape().set(begun.record, Tape.A, existing.number());
      existing.size(0);
    }
    journal.tape().done(begun.record, 0, 0);
    begun.record = 0;
  }

  /** A page of mapped memory has changed. Called with the lock held. */
  private void storedPage(Node file, long offset, MemorySegment bytes, int stack) {
    Tape tape = journal.tape();
    int size = (int) bytes.byteSize();
    long at = tape.begin(Tape.WRITE, size, 0, mine.get().thread, stack);
    if (at != 0) {
      MemorySegment.copy(bytes, 0, tape.memory(), at + Tape.HEADER, size);
      tape.set(at, Tape.A, file.number());
      tape.set(at, Tape.B, offset);
      tape.set(at, Tape.C, size);
      publish(at);
      tape.done(at, size, 0);
      pages.written(file, offset, bytes); // other mappings of the same file
    }
  }

  // ---- descriptors and paths

  private long numberOf(@Nullable Object descriptor) {
    return descriptor instanceof FileDescriptor file ? internals().numberOf(file) : -1;
  }

  private static FileDescriptor asDescriptor(@Nullable Object given) {
    if (given instanceof FileDescriptor file) {
      return file;
    }
    throw new IllegalStateException("not a descriptor: " + given);
  }

  private static FileDescriptor descriptor(@Nullable Object file) throws IOException {
    return switch (file) {
      case FileOutputStream out -> out.getFD();
      case FileInputStream in -> in.getFD();
      case RandomAccessFile random -> random.getFD();
      case null, default -> throw new IllegalStateException("an unknown kind of file: " + file);
    };
  }

  private static String text(@Nullable Object path) {
    return path instanceof File file ? file.getPath() : String.valueOf(path);
  }

  /** The path at an address, as the functions of the operating system take it. */
  private String path(long address) {
    if (WINDOWS) {
      StringBuilder text = new StringBuilder();
      for (long at = address; processMemory.get(JAVA_CHAR, at) != 0; at += 2) {
        text.append(processMemory.get(JAVA_CHAR, at));
      }
      return text.toString();
    }
    int length = 0;
    while (processMemory.get(JAVA_BYTE, address + length) != 0) {
      length++;
    }
    byte[] bytes = new byte[length];
    MemorySegment.copy(processMemory, JAVA_BYTE, address, bytes, 0, length);
    return new String(bytes, NAMES);
  }
}
