package org.revenantdb.history;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Records the operations of a store's clients as a {@link History}.
 *
 * <p>A session collects the operations of its transaction. Only the end of the transaction enters
 * the shared history, under a lock. A session goes on when a life ends, and when the history is
 * read.
 *
 * <p>Threads: any; each session belongs to one. Call {@link #crashed}, {@link #closed} and {@link
 * #history} only while no session works.
 */
public final class HistoryRecorder {

  private final LongSupplier clock;
  private final History.Builder builder;
  private final List<Session> sessions = new ArrayList<>();

  private HistoryRecorder(LongSupplier clock, History.Builder builder) {
    this.clock = clock;
    this.builder = builder;
  }

  /** Creates a recorder for a new history, with its own clock. */
  public HistoryRecorder() {
    this(new AtomicLong()::incrementAndGet);
  }

  /**
   * Creates a recorder for a new history.
   *
   * @param clock returns a larger place for each later event; any thread may call it
   */
  public HistoryRecorder(LongSupplier clock) {
    this(clock, new History.Builder());
  }

  /**
   * Creates a recorder that continues a history.
   *
   * @param history is not changed
   * @return a recorder with its own clock
   */
  public static HistoryRecorder after(History history) {
    return new HistoryRecorder(
        new AtomicLong(history.lastPlace())::incrementAndGet, new History.Builder(history));
  }

  /**
   * Returns the session of a client.
   *
   * @param process its number
   * @return its session
   */
  public HistorySession session(int process) {
    Session session = new Session(process);
    synchronized (builder) {
      sessions.add(session);
    }
    return session;
  }

  /** Notes that the store has crashed: unfinished transactions stay as they are. */
  public void crashed() {
    synchronized (builder) {
      sessions.forEach(Session::abandon);
      builder.crashed(clock.getAsLong());
    }
  }

  /** Notes that the store was closed in order. */
  public void closed() {
    synchronized (builder) {
      sessions.forEach(Session::abandon);
      builder.closed(clock.getAsLong());
    }
  }

  /**
   * Returns the recorded history. In it, transactions that have not ended are abandoned. Their
   * sessions go on with them, for the next history.
   *
   * @return the history
   */
  public History history() {
    synchronized (builder) {
      History.Builder copy = builder.copy();
      sessions.forEach(session -> session.abandonIn(copy));
      return copy.build();
    }
  }

  private final class Session implements HistorySession {

    private final int process;
    private final Accesses did = new Accesses();
    private boolean open;
    private long invoked;
    private long asked;
    private long flushAsked;

    Session(int process) {
      this.process = process;
    }

    @Override
    public void begin() {
      if (open) {
        throw new IllegalStateException(
            "process %d begins a transaction, and the one before has not ended: call ended first"
                .formatted(process));
      }
      open = true;
      invoked = clock.getAsLong();
      asked = History.NEVER;
    }

    @Override
    public void appending(int key, int value) {
      demandOpen();
      did.append(key, value);
    }

    @Override
    public void writing(int key, int value) {
      demandOpen();
      did.write(key, value);
    }

    @Override
    public void readList(int key, int[] values) {
      demandOpen();
      did.readList(key, values, 0, values.length);
    }

    @Override
    public void readRegister(int key, int value) {
      demandOpen();
      did.readRegister(key, value);
    }

    @Override
    public void readLists(int from, int to, SortedMap<Integer, int[]> found) {
      demandOpen();
      Accesses.demandInRange(from, to, found.keySet());
      did.rangeOfLists(from, to, found.size());
      found.forEach(this::readList);
    }

    @Override
    public void readRegisters(int from, int to, SortedMap<Integer, Integer> found) {
      demandOpen();
      Accesses.demandInRange(from, to, found.keySet());
      did.rangeOfRegisters(from, to, found.size());
      found.forEach(this::readRegister);
    }

    @Override
    public void committing() {
      demandOpen();
      asked = clock.getAsLong();
    }

    @Override
    public void ended(TransactionOutcome outcome) {
      demandOpen();
      synchronized (builder) {
        endIn(builder, outcome);
      }
      did.clear();
      open = false;
    }

    private void demandOpen() {
      if (!open) {
        throw new IllegalStateException(
            "process %d has no transaction: call begin first; the end of a life ends the one before"
                .formatted(process));
      }
    }

    private void endIn(History.Builder to, TransactionOutcome outcome) {
      to.add(process, invoked, asked, clock.getAsLong(), outcome, did);
    }

    /** Its life ends, and its transaction with it. */
    void abandon() {
      abandonIn(builder);
      did.clear();
      open = false;
    }

    /** Adds the transaction as it would be if its client never said more. */
    void abandonIn(History.Builder to) {
      if (open) {
        boolean mayBeCommitted = asked != History.NEVER;
        endIn(to, mayBeCommitted ? TransactionOutcome.UNKNOWN : TransactionOutcome.ABORTED);
      }
    }

    @Override
    public void flushing() {
      flushAsked = clock.getAsLong();
    }

    @Override
    public void flushed() {
      synchronized (builder) {
        builder.flushed(flushAsked, clock.getAsLong());
      }
    }
  }
}
