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
 * the shared history, under a lock.
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
      abandonSessions();
      builder.crashed(clock.getAsLong());
    }
  }

  /** Notes that the store was closed in order. */
  public void closed() {
    synchronized (builder) {
      abandonSessions();
      builder.closed(clock.getAsLong());
    }
  }

  private void abandonSessions() {
    sessions.forEach(Session::abandon);
    sessions.clear();
  }

  /**
   * Returns the recorded history. Transactions that have not ended count as abandoned.
   *
   * @return the history
   */
  public History history() {
    synchronized (builder) {
      abandonSessions();
      return new History.Builder(builder.build()).build();
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
      open = true;
      invoked = clock.getAsLong();
      asked = History.NEVER;
    }

    @Override
    public void appending(int key, int value) {
      did.append(key, value);
    }

    @Override
    public void writing(int key, int value) {
      did.write(key, value);
    }

    @Override
    public void readList(int key, int[] values) {
      did.readList(key, values, 0, values.length);
    }

    @Override
    public void readRegister(int key, int value) {
      did.readRegister(key, value);
    }

    @Override
    public void readLists(int from, int to, SortedMap<Integer, int[]> found) {
      did.rangeOfLists(from, to, found.size());
      found.forEach(this::readList);
    }

    @Override
    public void readRegisters(int from, int to, SortedMap<Integer, Integer> found) {
      did.rangeOfRegisters(from, to, found.size());
      found.forEach(this::readRegister);
    }

    @Override
    public void committing() {
      asked = clock.getAsLong();
    }

    @Override
    public void ended(TransactionOutcome outcome) {
      synchronized (builder) {
        builder.add(process, invoked, asked, clock.getAsLong(), outcome, did);
      }
      did.clear();
      open = false;
    }

    void abandon() {
      if (open) {
        ended(asked == History.NEVER ? TransactionOutcome.ABORTED : TransactionOutcome.UNKNOWN);
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
