package org.revenantdb.engine.serial;

import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.StampedLock;
import java.util.function.LongFunction;
import org.jspecify.annotations.Nullable;
import org.revenantdb.latch.PatientLock;

/**
 * The order of commits, while there are serializable transactions: each of those is validated
 * against what has been committed since its snapshot, and then commits before anybody else does.
 * Where there have been none for a while nobody takes part in it.
 *
 * <p>Threads: any. Who has the gate waits for nothing but the log's ring and latches of the
 * catalogue.
 */
public final class Certifier {
  /*
   * Source      rule R20; hazards §7: backward validation in the order of commits.
   * Protocol    docs/protocols.md §34, with S1 to S3.
   *
   * Order       credit -> lock of the catalogue, or of the prepared transactions -> gate -> latches. The lock of the list is
   *             a leaf. A StampedLock, as a hundred thousand sessions may have it shared, which a
   *             ReentrantReadWriteLock cannot count.
   *
   * Ordering    `state`, the words of transactions and the tail of the log are volatile, or changed atomically: one order
   *             of all accesses. (CertifierStress)
   */
  /** A commit that does not have the gate. */
  public static final long UNGATED = 0;

  /** Bytes of commits in one list. */
  static final long MOST_BYTES = 4L << 20;

  /**
   * Commits with the gate that nobody needs, until nobody takes it any more: so many that turning
   * it on, which waits for those who are committing, is paid for by few of them.
   */
  static final int MOST_QUIET = 1_000;

  /** Changes of tables that are known of the lists before. */
  private static final int MOST_FORMER = 1_000;

  /** Nobody is serializable, and nobody takes the gate. */
  private static final int OFF = -2;

  /**
   * Those who commit take the gate; who has not seen that is waited for, and no serializable
   * transaction has begun.
   */
  private static final int TURNING = -1;

  /** A commit in the list; the first one is none. */
  static final class Node {
    /** Heap that one takes beside its commit. */
    private static final int BYTES = 24;

    private final @Nullable Commit commit;
    private volatile @Nullable Node next;

    Node(@Nullable Commit commit) {
      this.commit = commit;
    }

    private long bytes() {
      return BYTES + (commit == null ? 0 : commit.bytes());
    }
  }

  private final StampedLock gate = new StampedLock();

  /**
   * OFF; TURNING, written under its lock; or, while those who commit take the gate, the number of
   * serializable transactions. One word, so that it is not turned off as one begins.
   */
  private final AtomicInteger state = new AtomicInteger(OFF);

  /** Commits with the gate since a serializable transaction has begun, where none was active. */
  private final AtomicInteger quiet = new AtomicInteger();

  private final PatientLock turning = new PatientLock();
  private final PatientLock lock = new PatientLock();
  private final Runnable awaitCommitting;
  private final long mostBytes;
  private final int mostQuiet;

  /** Those that have not ended; under the lock. */
  private final Set<SerialReads> open = new HashSet<>();

  /** How often a commit could not be entered; under the lock. */
  private long losses;

  /** The last of the list; under the lock. */
  private Node last = new Node(null);

  /** In this list; under the lock. */
  private long bytes;

  /**
   * Nobody is serializable.
   *
   * @param awaitCommitting waits until each transaction has its outcome whose commit record is
   *     being published now
   */
  public Certifier(Runnable awaitCommitting) {
    this(awaitCommitting, MOST_BYTES, MOST_QUIET);
  }

  /**
   * With other limits, for tests.
   *
   * @param awaitCommitting as above
   * @param mostBytes of commits in one list
   * @param mostQuiet commits with the gate that nobody needs, until nobody takes it
   */
  public Certifier(Runnable awaitCommitting, long mostBytes, int mostQuiet) {
    this.awaitCommitting = awaitCommitting;
    this.mostBytes = mostBytes;
    this.mostQuiet = mostQuiet;
  }

  /** A serializable transaction begins; its snapshot is taken afterwards. */
  public SerialReads begin() {
    if (!isCountedOn()) {
      turnOn();
    }
    boolean done = false;
    try {
      lock.lock();
      try {
        quiet.set(0);
        SerialReads reads = new SerialReads(last, losses);
        open.add(reads);
        done = true;
        return reads;
      } finally {
        lock.unlock();
      }
    } finally {
      if (!done) {
        state.getAndDecrement();
      }
    }
  }

  /** Counts one more that is active, if those who commit take the gate. */
  private boolean isCountedOn() {
    int before = state.get();
    while (before >= 0) {
      int found = state.compareAndExchange(before, before + 1);
      if (found == before) {
        return true;
      }
      before = found;
    }
    return false;
  }

  /** Has those who commit take the gate, and counts one that is active. */
  private void turnOn() {
    turning.lock();
    try {
      if (!isCountedOn()) {
        int next = OFF; // if the wait fails
        state.set(TURNING);
        try {
          gate.unlockWrite(
              gate.writeLock()); // those who take it without a word, as who changes tables
          awaitCommitting.run();
          next = 1;
        } finally {
          state.set(next);
        }
      }
    } finally {
      turning.unlock();
    }
  }

  /** Has nobody take the gate any more, if nobody has needed it for long. */
  private void turnOffIfQuiet() {
    if (state.get() == 0 && quiet.incrementAndGet() >= mostQuiet) {
      state.compareAndSet(0, OFF);
    }
  }

  /** It has ended. */
  public void end(SerialReads reads) {
    lock.lock();
    try {
      if (open.remove(reads)) {
        state.getAndDecrement();
      }
    } finally {
      lock.unlock();
    }
  }

  /**
   * Before a transaction is marked as committing.
   *
   * @return for {@link #leave}
   */
  public long enter() {
    return state.get() == OFF ? UNGATED : enterAlways();
  }

  /**
   * The same, whether there are serializable transactions or not: for what is not marked as
   * committing.
   */
  public long enterAlways() {
    return gate.readLock();
  }

  /**
   * Whether one that is marked as committing, and has not reserved its record, has to take the mark
   * back and enter.
   *
   * @param pass from {@link #enter}
   */
  public boolean mustEnter(long pass) {
    return pass == UNGATED && state.get() != OFF;
  }

  /**
   * What a serializable transaction has looked at on its way to one commit.
   *
   * @param before what it had to look at
   * @param seen the last commit of the list that needs no look any more
   */
  public record Validated(SerialReads.Behind before, Node seen) {}

  /**
   * Looks at all that has been committed since a transaction began. With nothing held; what it
   * finds right may be wrong a moment later.
   *
   * @param look at rows, where it is not known what was written
   * @return for {@link #enter(SerialReads, Validated)}
   * @throws ChangedException if the transaction cannot commit
   */
  public Validated validate(SerialReads reads, SerialReads.Look look) throws ChangedException {
    SerialReads.Behind behind = behind(reads);
    for (Commit commit : behind.former()) {
      demandUnchanged(reads, commit);
    }
    // First the end of the list, then the rows: what is committed in between is met in both.
    boolean[] mustLook = {behind.mustReadAgain()};
    Node seen = demandUnchanged(reads, behind.seen(), mustLook);
    if (mustLook[0] && reads.areChanged(look)) {
      throw new ChangedException(0);
    }
    return new Validated(behind, seen);
  }

  /**
   * Takes the gate for a serializable transaction alone, if nothing that was committed since it was
   * validated has changed what it has read.
   *
   * @return for {@link #leave}; {@link #UNGATED} if that cannot be told: it is to be validated
   *     again
   * @throws ChangedException if the transaction cannot commit
   */
  public long enter(SerialReads reads, Validated validated) throws ChangedException {
    long pass = gate.writeLock();
    boolean done = false;
    try {
      boolean[] mustLook = {false};
      demandTrack(reads);
      if (isStill(reads, validated)) {
        demandUnchanged(reads, validated.seen(), mustLook);
        done = !mustLook[0];
      }
      return done ? pass : UNGATED;
    } finally {
      if (!done) {
        gate.unlockWrite(pass);
      }
    }
  }

  private SerialReads.Behind behind(SerialReads reads) throws ChangedException {
    demandTrack(reads);
    lock.lock();
    try {
      return reads.behind();
    } finally {
      lock.unlock();
    }
  }

  private void demandTrack(SerialReads reads) throws ChangedException {
    lock.lock();
    try {
      if (reads.isLost() || reads.losses != losses) {
        throw new ChangedException(0);
      }
    } finally {
      lock.unlock();
    }
  }

  /** Whether the list was not begun anew since. */
  @SuppressWarnings("ReferenceEquality") // the very same
  private boolean isStill(SerialReads reads, Validated validated) {
    lock.lock();
    try {
      return reads.behind() == validated.before();
    } finally {
      lock.unlock();
    }
  }

  /**
   * Looks at the commits behind one.
   *
   * @param mustLook set if what one has written is not known
   * @return the last of them
   */
  private static Node demandUnchanged(SerialReads reads, Node from, boolean[] mustLook)
      throws ChangedException {
    Node seen = from;
    for (Node node = from.next; node != null; node = node.next) {
      Commit commit = node.commit;
      if (commit != null) {
        demandUnchanged(reads, commit);
        mustLook[0] |= !commit.isKnown() && commit.lsn() > reads.snapshot();
      }
      seen = node;
    }
    return seen;
  }

  private static void demandUnchanged(SerialReads reads, Commit commit) throws ChangedException {
    if (reads.areChangedBy(commit)) {
      throw new ChangedException(commit.lsn());
    }
  }

  /**
   * Something was committed, or prepared, and everybody sees that. Does not fail.
   *
   * @param pass from one of those who enter, which is not given back yet
   * @param commit what it is, by its LSN; made before the record was published
   * @param lsn where it was committed
   */
  public void committed(long pass, LongFunction<Commit> commit, long lsn) {
    int own = StampedLock.isWriteLockStamp(pass) ? 1 : 0;
    if (pass == UNGATED || state.get() <= own) {
      return; // who begins now has a snapshot behind it
    }
    try {
      Node node = new Node(commit.apply(lsn));
      lock.lock();
      try {
        last.next = node;
        last = node;
        bytes += node.bytes();
        if (bytes > mostBytes) {
          beginAnew();
        }
      } finally {
        lock.unlock();
      }
    } catch (VirtualMachineError noMemory) {
      loseTrack();
    }
  }

  /** What is in the list is not kept any longer; who has not seen it reads again. */
  private void beginAnew() {
    Node first = new Node(null);
    for (SerialReads reads : open) {
      List<Commit> former = new ArrayList<>(reads.behind().former());
      for (Node node = reads.behind().seen().next; node != null; node = node.next) {
        Commit commit = node.commit;
        if (commit != null && commit.hasChangedTables()) {
          former.add(commit.withoutRows());
        }
      }
      if (former.size() > MOST_FORMER) {
        reads.loseTrack();
        former.clear();
      }
      reads.beginAnew(first, former);
    }
    last = first;
    bytes = 0;
  }

  /** Nobody can tell any more what those that are open now have missed. Allocates nothing. */
  private void loseTrack() {
    lock.lock();
    try {
      losses++;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Lets others in.
   *
   * @param pass from one of those who enter
   */
  public void leave(long pass) {
    if (pass != UNGATED) {
      gate.unlock(pass);
      turnOffIfQuiet();
    }
  }
}
