package org.revenantdb.chaos.hooks;

import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.agent.Bridge;
import org.revenantdb.chaos.agent.CallListener;
import org.revenantdb.chaos.agent.FileAgent;
import org.revenantdb.chaos.agent.FileCall;
import org.revenantdb.chaos.agent.Internals;
import org.revenantdb.chaos.agent.NativeCalls;

/**
 * Records what Java code does to the files of the directory under test: every native method for
 * files is reported by the {@link FileAgent}, and goes to the {@link Tape} (§59).
 *
 * <p>Threads: any. Failure: nothing is thrown into the program. If an operation cannot be recorded,
 * it is carried out and {@link Tape#FAILED} is set; the run is then not measured.
 */
final class AgentFiles implements ProcessRecorder, CallListener {
  /*
   * Parts       AgentCalls tells which calls concern the directory, and takes the lock for them.
   *             AgentNames, AgentData and AgentCopies write what those do; KnownDirectory has what
   *             is known of the files. Here is what happens in which order.
   * Order       The lock is held from `before` to `after` of an operation, so that the order of
   *             places is the order of effects. A force holds it only while it takes its places.
   * Identity    A descriptor leaves the table of open files before it is closed, so before its
   *             number is used again. The lock is held while it is closed: an operation finds it
   *             open, or not at all.
   * Reentry     What the recorder does itself goes past it: `Caller.inside`.
   */

  /** For tests of the trial: a native method whose calls are taken for nothing. */
  private static final String UNSEEN = "revenant.chaos.unseen";

  private static final int MAP_FOR_WRITING = 1;

  private static final boolean WINDOWS = System.getProperty("os.name").startsWith("Windows");
  private static final boolean LINUX = System.getProperty("os.name").equals("Linux");

  private final Journal journal = new Journal(_ -> comparePages());
  private final CallOrder order = new CallOrder(journal);
  private final ProcessMemory memory;
  private final KnownDirectory directory;
  private final OpenFiles open;
  private final AgentCalls calls;
  private final AgentNames names;
  private final AgentData data;
  private final AgentCopies copies;
  private FileCall[] meanings = {};
  private volatile boolean on;

  /** Makes a recorder for the agent, which {@link #install} asks what the numbers mean. */
  @SuppressWarnings("restricted") // this JVM was started with native access for that
  AgentFiles() {
    this(MemorySegment.NULL.reinterpret(Long.MAX_VALUE), List.of());
  }

  /**
   * Makes a recorder of calls that a test makes.
   *
   * @param all has the arguments that calls have by address
   * @param meanings each has the number of its place here
   */
  AgentFiles(MemorySegment all, List<FileCall> meanings) {
    this.meanings = meanings.toArray(FileCall[]::new);
    this.memory = new ProcessMemory(all);
    this.directory = new KnownDirectory(all, this::stored);
    this.open = directory.open();
    this.calls = new AgentCalls(journal, order, memory, directory);
    Entries entries = new Entries(journal);
    this.names = new AgentNames(journal, entries, directory);
    this.data = new AgentData(journal, entries, names, directory);
    this.copies = new AgentCopies(journal, entries, names, data, directory);
  }

  private void comparePages() {
    directory.pages().compare();
  }

  private void stored(Names.Node file, long offset, MemorySegment bytes, int stack) {
    data.stored(order.caller().thread(), file, offset, bytes, stack);
  }

  @Override
  public void install(Path trial, Tape onto) throws Throwable {
    FileAgent agent = FileAgent.install();
    open.use(agent.internals());
    if (!WINDOWS) {
      calls.use(OpenFlags.ofUnix());
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
   * @param methods each has the number of its place here
   * @param unseen a native method whose calls are left out, for tests; none has an empty name
   */
  void listen(List<NativeCalls.Line> methods, String unseen) {
    meanings =
        methods.stream()
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
      return directory.forgets();
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
    journal.lock().lock();
    try {
      directory.begin(under);
      order.begin();
      journal.root(directory.names().root().number());
      order.announce(order.caller());
    } finally {
      journal.lock().unlock();
    }
    on = true;
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
    CallOrder.Caller by;
    try {
      by = order.caller();
    } catch (Throwable t) {
      journal.lost(t);
      return null;
    }
    if (by.inside) {
      return null;
    }
    by.inside = true;
    int held = journal.lock().getHoldCount(); // a control holds it
    BegunCall begun = null;
    try {
      begun = calls.begun(meanings[number], by, one, two, three, a, b, c, d, e, f);
      if (begun != null) {
        record(begun, one, two, a, b, c);
        if (begun.isForce()) {
          order.unlock(begun);
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

  /** Writes the operation, before it is carried out. */
  private void record(
      BegunCall begun, @Nullable Object one, @Nullable Object two, long a, long b, long c)
      throws Throwable {
    if (begun.isClosing()) {
      return;
    }
    journal.look(begun.by.thread(), begun.stack, /* all= */ true);
    if (!begun.gap.isEmpty()) {
      return;
    }
    switch (begun.call) {
      case OPEN_INPUT, OPEN_OUTPUT, OPEN_RANDOM, OPEN_PATH, OPEN_PATH_AT, OPEN_WINDOWS ->
          names.opening(begun);
      case CREATE_FILE -> names.creating(begun);
      case WRITE_BYTE -> data.writing(begun, OpenFiles.of(one), AgentData.ofByte(a));
      case WRITE_BYTES -> {
        if (two instanceof byte[] bytes && a >= 0 && b > 0 && a + b <= bytes.length) {
          data.writing(begun, OpenFiles.of(one), MemorySegment.ofArray(bytes).asSlice(a, b));
        }
      }
      case WRITE -> {
        begun.append |= c != 0;
        data.writing(begun, OpenFiles.asDescriptor(one), memory.slice(a, b));
      }
      case WRITE_AT -> {
        // Linux ignores the position of a write to a file that is open for appending.
        begun.offset =
            LINUX && begun.file().append() ? internals().size(OpenFiles.asDescriptor(one)) : c;
        data.writingAt(begun, memory.slice(a, b));
      }
      case WRITE_VECTOR -> {
        begun.append |= c != 0;
        data.writing(begun, OpenFiles.asDescriptor(one), memory.gathered(a, b));
      }
      case WRITE_NUMBER -> data.writing(begun, internals().descriptor(a), memory.slice(b, c));
      case SET_LENGTH, TRUNCATE -> data.sizing(begun, a);
      case TRUNCATE_HERE -> data.sizing(begun, internals().position(internals().descriptor(a)));
      case FORCE_DESCRIPTOR -> data.forcing(begun, /* metadata= */ true);
      case FORCE -> data.forcing(begun, a != 0);
      case FORCE_MEMORY -> data.forcing(begun, /* metadata= */ false);
      case MAP -> {
        begun.a = a;
        begun.offset = b;
        begun.length = c;
      }
      case UNMAP -> directory.pages().remove(begun.a, begun.b);
      case TRANSFER_TO ->
          copies.transferringTo(begun, OpenFiles.asDescriptor(one), OpenFiles.asDescriptor(two), a);
      case TRANSFER_FROM ->
          copies.transferringFrom(
              begun, OpenFiles.asDescriptor(one), OpenFiles.asDescriptor(two), a);
      case COPY_DESCRIPTORS ->
          copies.copying(begun, internals().descriptor(a), internals().descriptor(b));
      case CREATE_DIRECTORY, CREATE_DIRECTORY_PATH -> names.naming(begun, Tape.MKDIR);
      case DELETE_FILE, DELETE_PATH, DELETE_PATH_AT -> names.naming(begun, Tape.UNLINK);
      case RENAME_FILE, RENAME_PATHS, RENAME_PATHS_AT -> names.naming(begun, Tape.RENAME);
      case LINK_PATHS, LINK_PATHS_WINDOWS -> names.naming(begun, Tape.LINK);
      case CLONE_PATH -> copies.cloning(begun);
      case DUPLICATE -> {}
      default -> throw new IllegalStateException("a call that is not recorded: " + begun.call);
    }
  }

  private Internals internals() {
    return open.internals();
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
    BegunCall begun = (BegunCall) token;
    begun.by.inside = true;
    try {
      if (!begun.locked) {
        order.lock(begun);
      }
      long done = begun.gap.isEmpty() ? carriedOut(begun, result, thrown) : 0;
      if (!begun.gap.isEmpty() && succeeded(begun.call, result, thrown)) {
        names.gap(begun, begun.path, begun.gap);
      }
      if (begun.record != 0) {
        journal.tape().done(begun.record, done, 0);
      }
    } catch (Throwable t) {
      journal.lost(t);
    } finally {
      begun.by.inside = false;
      order.unlock(begun);
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
  private long carriedOut(BegunCall begun, long result, boolean thrown) throws Throwable {
    return switch (begun.call) {
      case OPEN_INPUT, OPEN_OUTPUT, OPEN_RANDOM -> {
        if (thrown) {
          yield -1;
        }
        names.opened(begun, open.numberOf(OpenFiles.of(begun.object)));
        yield 0;
      }
      case OPEN_PATH, OPEN_PATH_AT, OPEN_WINDOWS -> {
        if (thrown || result == -1) {
          yield -1;
        }
        names.opened(begun, result);
        yield 0;
      }
      case DUPLICATE -> {
        if (!thrown) {
          open.put(result, begun.file());
        }
        yield 0;
      }
      case WRITE_BYTE, WRITE_BYTES ->
          data.written(
              begun, thrown && begun.length > 0 ? data.writtenUntilFailure(begun) : begun.length);
      case WRITE, WRITE_AT, WRITE_VECTOR, WRITE_NUMBER -> data.written(begun, result);
      case SET_LENGTH, TRUNCATE, TRUNCATE_HERE -> {
        if (thrown || result < 0) {
          yield -1;
        }
        data.sized(begun);
        yield 0;
      }
      case FORCE_DESCRIPTOR, FORCE -> {
        data.forced(begun);
        yield thrown || result < 0 ? -1 : 0;
      }
      case FORCE_MEMORY -> {
        data.memoryForced(begun, thrown ? -1 : 0);
        yield 0;
      }
      case MAP -> {
        if (!thrown && begun.a == MAP_FOR_WRITING) {
          data.mapped(begun, result);
        }
        yield 0;
      }
      case TRANSFER_TO, TRANSFER_FROM -> copies.copied(begun, thrown ? 0 : result);
      case COPY_DESCRIPTORS -> copies.copied(begun, copies.copiedLength(begun));
      case CLONE_PATH -> thrown || result != 0 ? 0 : copies.cloned(begun);
      case CREATE_FILE,
          CREATE_DIRECTORY,
          CREATE_DIRECTORY_PATH,
          DELETE_FILE,
          DELETE_PATH,
          DELETE_PATH_AT,
          RENAME_FILE,
          RENAME_PATHS,
          RENAME_PATHS_AT,
          LINK_PATHS,
          LINK_PATHS_WINDOWS -> {
        if (!succeeded(begun.call, result, thrown)) {
          yield -1;
        }
        changeNames(begun);
        yield 0;
      }
      default -> 0;
    };
  }

  private void changeNames(BegunCall begun) {
    switch (begun.call) {
      case CREATE_FILE -> names.created(begun);
      case CREATE_DIRECTORY, CREATE_DIRECTORY_PATH -> names.directoryCreated(begun);
      case DELETE_FILE, DELETE_PATH, DELETE_PATH_AT -> names.deleted(begun);
      case RENAME_FILE, RENAME_PATHS, RENAME_PATHS_AT -> names.renamed(begun);
      case LINK_PATHS, LINK_PATHS_WINDOWS -> names.linked(begun);
      default -> throw new IllegalStateException("a call that changes no name: " + begun.call);
    }
  }
}
