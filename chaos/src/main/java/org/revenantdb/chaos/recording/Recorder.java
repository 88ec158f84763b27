package org.revenantdb.chaos.recording;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.chaos.fault.Fault;
import org.revenantdb.chaos.fault.FaultInjector;
import org.revenantdb.chaos.fault.FileOperation;
import org.revenantdb.chaos.trace.CallStack;
import org.revenantdb.chaos.trace.Operation;
import org.revenantdb.chaos.trace.Operation.Origin;
import org.revenantdb.chaos.trace.Trace;
import org.revenantdb.chaos.trace.TraceClock;

/**
 * The shared state of one recording: the clock, the trace as it grows, faults and counts.
 *
 * <p>Threads: any. {@link #trace} is complete when no operation is under way.
 */
final class Recorder {
  /*
   * How an operation gets its place. A thread that changes a node holds that node's lock (for
   * names: the lock of the name space) from before it takes the place until the real operation is
   * over. So for one node the order of places is the order of effects. Operations of different
   * nodes overlap and enter the list in another order than that of their places; trace() sorts. A
   * place whose operation failed stays empty.
   *
   * A force must not cover a write that has its place but is not yet in the file. So `since` is a
   * place of its own, taken under the node's lock: every smaller place on that node has been
   * carried out by then. The force itself is called without the lock. Writes continue meanwhile and
   * get places that it does not cover. Few do, because what is below is mostly memory; SlowForces
   * gives them time.
   *
   * Processes follow each other, each with its own recorder over the same lists. In a dead process
   * every operation fails. An operation that began before the death holds the lock of its node (or
   * of the name space) until it is over. So once end() has acquired each of these locks, nothing of
   * that process is under way. A force holds no lock; it takes its place under the lock and finds
   * the process dead.
   */

  private static final Fault DEAD = new Fault.Fail("the process is dead");

  private final TraceClock clock;
  private final FaultInjector injector;
  private final boolean asking;
  private final boolean stacks;
  private final boolean keeping;
  private final long began;
  private final CallStacks callStacks = new CallStacks();
  private final IoCounter counter;
  private final AtomicLong asked;
  private final List<Operation> operations;
  private final Set<String> gaps;
  private final Set<String> waysAround;
  private final Set<String> escapes;
  private final @Nullable SlowForces slow;
  private final Set<RecordingChannel> open = ConcurrentHashMap.newKeySet();
  private final List<MappedFile> mappings = new CopyOnWriteArrayList<>();
  private volatile boolean dead;

  Recorder(
      TraceClock clock,
      FaultInjector injector,
      boolean stacks,
      boolean keeping,
      @Nullable SlowForces slow,
      IoCounter counter) {
    this.clock = clock;
    this.injector = injector;
    this.asking = !injector.equals(FaultInjector.NOTHING);
    this.stacks = stacks;
    this.keeping = keeping;
    this.began = System.nanoTime();
    this.counter = counter;
    this.asked = new AtomicLong();
    this.operations = new ArrayList<>();
    this.gaps = new LinkedHashSet<>();
    this.waysAround = new LinkedHashSet<>();
    this.escapes = new LinkedHashSet<>();
    this.slow = slow;
  }

  /** The recorder of the next process, which continues where the former one ended. */
  Recorder(Recorder former, FaultInjector injector) {
    this.clock = former.clock;
    this.injector = injector;
    this.asking = !injector.equals(FaultInjector.NOTHING);
    this.stacks = former.stacks;
    this.keeping = former.keeping;
    this.began = former.began;
    this.counter = former.counter;
    this.asked = former.asked;
    this.operations = former.operations;
    this.gaps = former.gaps;
    this.waysAround = former.waysAround;
    this.escapes = former.escapes;
    this.slow = former.slow == null ? null : former.slow.next();
  }

  /** Ends the process. Returns when none of its operations is under way. */
  void end(NameSpace names) throws IOException {
    dead = true;
    waitFor(names.lock());
    // The kernel has what the process has stored.
    for (MappedFile mapping : mappings) {
      if (!mapping.sync()) {
        mapping.end();
      }
    }
    mappings.clear();
    // Later open calls fail, so these are all channels.
    for (RecordingChannel channel : open) {
      channel.end();
    }
  }

  /** Returns when the present holder of the lock has released it. */
  static void waitFor(ReentrantLock lock) {
    lock.lock();
    try {
      // Acquiring the lock was all.
    } finally {
      lock.unlock();
    }
  }

  void opened(RecordingChannel channel) {
    open.add(channel);
  }

  void closed(RecordingChannel channel) {
    open.remove(channel);
  }

  TraceClock clock() {
    return clock;
  }

  IoCounter counter() {
    return counter;
  }

  /** Whether operations are kept, so that their bytes are needed. */
  boolean keeping() {
    return keeping;
  }

  /** Whether an injector decides about faults. */
  boolean asking() {
    return asking || dead;
  }

  /** The caller, as far as the trace needs it. */
  Caller caller() {
    CallStack stack = stacks && (keeping || asking()) ? callStacks.here() : CallStack.UNKNOWN;
    return new Caller(Thread.currentThread().getName(), stack);
  }

  /**
   * The caller of an operation that changes something, or forces something. What was stored into
   * mapped memory until now takes its place before that operation. The caller holds no lock of a
   * node.
   */
  Caller changing() throws IOException {
    sync();
    return caller();
  }

  /** Records what was stored into mapped memory. */
  void sync() throws IOException {
    if (!dead) {
      for (MappedFile mapping : List.copyOf(mappings)) {
        if (mapping.sync()) {
          mappings.remove(mapping);
        }
      }
    }
  }

  /** Records what was stored into the memory of a file that is about to be read. */
  void sync(Node file) throws IOException {
    for (MappedFile mapping : mappings) {
      if (!dead && mapping.isOf(file)) {
        mapping.sync();
      }
    }
  }

  void mapped(MappedFile mapping) {
    mappings.add(mapping);
  }

  /** The fault of the operation that is about to be carried out. */
  Strike ask(
      FileOperation.Kind kind, String path, long offset, long length, long growth, Caller caller) {
    if (!asking()) {
      return Strike.NONE;
    }
    if (dead) {
      return new Strike(DEAD, kind, path);
    }
    int bytes = (int) Math.min(length, Integer.MAX_VALUE);
    FileOperation operation =
        new FileOperation(
            kind, path, offset, bytes, growth, asked.getAndIncrement(), caller.stack());
    return new Strike(injector.before(operation), kind, path);
  }

  Strike ask(FileOperation.Kind kind, String path, Caller caller) {
    return ask(kind, path, 0, 0, 0, caller);
  }

  /** The next place, to be filled by {@link #record}. */
  long place() {
    return clock.next();
  }

  /** A place after all operations on a node so far. Later operations on it have greater ones. */
  long since(Node node) {
    node.content().lock();
    try {
      return clock.next();
    } finally {
      node.content().unlock();
    }
  }

  /** Adds an operation to the trace at its place. */
  void record(long place, Caller caller, Function<Origin, Operation> operation) {
    if (keeping) {
      Origin origin = new Origin(place, System.nanoTime() - began, caller.thread(), caller.stack());
      Operation made = operation.apply(origin);
      synchronized (operations) {
        operations.add(made);
      }
      if (slow != null) {
        noteChange(slow, made);
      }
    }
  }

  private static void noteChange(SlowForces slow, Operation made) {
    switch (made) {
      case Operation.Write op -> slow.changed(op.node());
      case Operation.Truncate op -> slow.changed(op.node());
      case Operation.Create op -> slow.changed(op.parent());
      case Operation.Link op -> slow.changed(op.parent());
      case Operation.Delete op -> slow.changed(op.parent());
      case Operation.Rename op -> {
        slow.changed(op.fromParent());
        if (op.toParent() != op.fromParent()) {
          slow.changed(op.toParent());
        }
      }
      case Operation.Force _, Operation.ForceFailed _ -> {}
    }
  }

  /** How forces are slowed down; none if they are not. */
  @Nullable SlowForces slowForces() {
    return slow;
  }

  /**
   * Gives other threads time, if configured. Called when a force was called and its {@link #since}
   * was taken.
   */
  void delayForce(Node node) {
    if (slow != null && !dead) {
      slow.delay(node.number());
    }
  }

  /**
   * Records that a force has returned.
   *
   * @param only the place of the one write that was forced, or {@link Operation.Force#ALL}
   */
  void forced(Node node, long since, boolean metadata, long only, Caller caller) {
    node.content().lock();
    try {
      if (!dead) {
        counter.force();
        record(
            place(),
            caller,
            origin -> new Operation.Force(origin, node.number(), since, metadata, only));
      }
    } finally {
      node.content().unlock();
    }
  }

  /** Operations of one node so far, in order. The caller holds the node's lock. */
  List<Operation> writesOf(int node) {
    synchronized (operations) {
      return operations.stream()
          .filter(each ->
              switch (each) {
                case Operation.Write write -> write.node() == node;
                case Operation.Truncate cut -> cut.node() == node;
                default -> false;
              })
          .sorted(Comparator.comparingLong(Operation::seq))
          .toList();
    }
  }

  /** Notes an event that cannot be recorded. Noted once for each stack. */
  void gap(String what) {
    String sentence = withStack(what);
    synchronized (gaps) {
      gaps.add(sentence);
    }
  }

  /** Notes a difference that a comparison has found. The stack would be that of the comparison. */
  void found(String what) {
    synchronized (gaps) {
      gaps.add(what);
    }
  }

  /**
   * Notes a way around this recording. Until something takes it, no file is changed unseen, so it
   * matters only if the files are not compared with the trace afterwards. Noted once for each
   * stack.
   */
  void wayAround(String what) {
    String sentence = withStack(what);
    synchronized (gaps) {
      gaps.add(sentence);
      waysAround.add(sentence);
    }
  }

  /** The gaps that are only ways around this recording. */
  Set<String> waysAround() {
    synchronized (gaps) {
      return Set.copyOf(waysAround);
    }
  }

  /** Notes a change outside the directory. Noted once for each stack. */
  void escape(String what) {
    String sentence = withStack(what);
    synchronized (escapes) {
      escapes.add(sentence);
    }
  }

  private String withStack(String what) {
    return (what + "\n" + callStacks.here().text()).stripTrailing();
  }

  Trace trace(DiskImage start) {
    try {
      sync();
    } catch (IOException failed) {
      throw new UncheckedIOException(failed);
    }
    List<Operation> inOrder;
    synchronized (operations) {
      inOrder = operations.stream().sorted(Comparator.comparingLong(Operation::seq)).toList();
    }
    synchronized (gaps) {
      synchronized (escapes) {
        return new Trace(start, inOrder, List.copyOf(gaps), List.copyOf(escapes));
      }
    }
  }
}
