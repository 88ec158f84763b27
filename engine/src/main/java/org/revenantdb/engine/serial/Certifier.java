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
 * The order of commits while there are serializable transactions. Each of them is validated against
 * the commits since its snapshot, and then commits before any other transaction does. If there have
 * been no serializable transactions for a while, no commit takes part.
 *
 * <p>Threads: any. A thread that has the gate waits only for the log's ring and for latches of the
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
  /** The pass of a commit without the gate. */
  public static final long UNGATED = 0;

  /** Bytes of commits in one list. */
  static final long MOST_BYTES = 4L << 20;

  /**
   * The number of commits with an unneeded gate after which the gate is turned off. It is large
   * because turning it on is costly: that waits for the transactions that are committing.
   */
  static final int MOST_QUIET = 1_000;

  /** The number of table changes that are kept from former lists. */
  private static final int MOST_FORMER = 1_000;

  /** No transaction is serializable, and no commit takes the gate. */
  private static final int OFF = -2;

  /**
   * Commits take the gate. The certifier waits for the commits that have not seen this, and no
   * serializable transaction has begun yet.
   */
  private static final int TURNING = -1;

  /** A commit in the list; the first node has no commit. */
  static final class Node {
    /** Heap size of a node without its commit. */
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
   * OFF; TURNING, written under its lock; or, while commits take the gate, the number of
   * serializable transactions. It is one word, so that the gate is not turned off while such a
   * transaction begins.
   */
  private final AtomicInteger state = new AtomicInteger(OFF);

  /**
   * The number of commits with the gate since the last begin of a serializable transaction, while
   * none was active.
   */
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
   * Starts without serializable transactions.
   *
   * @param awaitCommitting waits until each transaction whose commit record is being published now
   *     has its outcome
   */
  public Certifier(Runnable awaitCommitting) {
    this(awaitCommitting, MOST_BYTES, MOST_QUIET);
  }

  /**
   * With other limits, for tests.
   *
   * @param awaitCommitting as above
   * @param mostBytes the greatest size of the commits in one list
   * @param mostQuiet the number of commits with an unneeded gate after which it is turned off
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

  /** Counts one more active transaction, if commits take the gate. */
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

  /** Makes commits take the gate, and counts one active transaction. */
  private void turnOn() {
    turning.lock();
    try {
      if (!isCountedOn()) {
        int next = OFF; // if the wait fails
        state.set(TURNING);
        try {
          gate.unlockWrite(
              gate.writeLock()); // waits also for threads that take it without a word of a
          // transaction, such as changes of tables
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

  /** Turns the gate off if it has not been needed for long. */
  private void turnOffIfQuiet() {
    if (state.get() == 0 && quiet.incrementAndGet() >= mostQuiet) {
      state.compareAndSet(0, OFF);
    }
  }

  /** Called when a serializable transaction has ended. */
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
   * Called before a transaction is marked as committing.
   *
   * @return the pass for {@link #leave}
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
   * Whether a transaction that is marked as committing, and has not reserved its record, has to
   * remove the mark and enter.
   *
   * @param pass from {@link #enter}
   */
  public boolean mustEnter(long pass) {
    return pass == UNGATED && state.get() != OFF;
  }

  /**
   * The result of a validation of a serializable transaction.
   *
   * @param before what it had to check
   * @param seen the last commit of the list that need not be checked any more
   */
  public record Validated(SerialReads.Behind before, Node seen) {}

  /**
   * Checks everything that has been committed since a transaction began. Called with nothing held;
   * a successful result may be out of date a moment later.
   *
   * @param look reads rows, if it is not known what was written
   * @return for {@link #enter(SerialReads, Validated)}
   * @throws ChangedException if the transaction cannot commit
   */
  public Validated validate(SerialReads reads, SerialReads.Look look) throws ChangedException {
    SerialReads.Behind behind = behind(reads);
    for (Commit commit : behind.former()) {
      demandUnchanged(reads, commit);
    }
    // First the end of the list, then the rows: a commit in between is found in both.
    boolean[] mustLook = {behind.mustReadAgain()};
    Node seen = demandUnchanged(reads, behind.seen(), mustLook);
    if (mustLook[0] && reads.areChanged(look)) {
      throw new ChangedException(0);
    }
    return new Validated(behind, seen);
  }

  /**
   * Takes the gate exclusively for a serializable transaction, if no commit since its validation
   * has changed what it has read.
   *
   * @return the pass for {@link #leave}; {@link #UNGATED} if this cannot be decided: then it must
   *     be validated again
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

  /** Whether the list was not restarted since. */
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
   * Checks the commits behind a node.
   *
   * @param mustLook set if it is not known what one of them has written
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
   * Called after a transaction was committed or prepared, and this is visible to all. Does not
   * fail.
   *
   * @param pass from one of the enter methods, not left yet
   * @param commit makes the commit from its LSN; created before the record was published
   * @param lsn the LSN of the commit
   */
  public void committed(long pass, LongFunction<Commit> commit, long lsn) {
    int own = StampedLock.isWriteLockStamp(pass) ? 1 : 0;
    if (pass == UNGATED || state.get() <= own) {
      return; // a transaction that begins now has a later snapshot
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

  /** Drops the content of the list. A transaction that has not seen it must read its rows again. */
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

  /** Records that it is unknown what the open transactions have missed. Allocates nothing. */
  private void loseTrack() {
    lock.lock();
    try {
      losses++;
    } finally {
      lock.unlock();
    }
  }

  /**
   * Releases the gate.
   *
   * @param pass from one of the enter methods
   */
  public void leave(long pass) {
    if (pass != UNGATED) {
      gate.unlock(pass);
      turnOffIfQuiet();
    }
  }
}
