package org.revenantdb.chaos.history;

import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;

/**
 * Writes down what the clients of a store do, as a {@link History}.
 *
 * <p>What a transaction does is gathered in its session; only its end is told to all, under a lock.
 *
 * <p>Threads: any; each session belongs to one. {@link #crashed}, {@link #closed} and {@link
 * #history} are for when no session is at work.
 */
public final class HistoryRecorder {

  private final LongSupplier clock;
  private final History.Builder builder;
  private final List<Session> sessions = new ArrayList<>();

  private HistoryRecorder(LongSupplier clock, History.Builder builder) {
    this.clock = clock;
    this.builder = builder;
  }

  /** Records from the beginning, with a clock of its own. */
  public HistoryRecorder() {
    this(new AtomicLong()::incrementAndGet);
  }

  /**
   * Records from the beginning.
   *
   * @param clock gives each event a larger place than the ones before it; any thread may ask
   */
  public HistoryRecorder(LongSupplier clock) {
    this(clock, new History.Builder());
  }

  /**
   * Goes on where a history ends.
   *
   * @param history stays as it is
   * @return a recorder with a clock of its own
   */
  public static HistoryRecorder after(History history) {
    return new HistoryRecorder(
        new AtomicLong(history.lastPlace())::incrementAndGet, new History.Builder(history));
  }

  /**
   * A client.
   *
   * @param process its number
   * @return whom it tells
   */
  public HistorySession session(int process) {
    Session session = new Session(process);
    synchronized (builder) {
      sessions.add(session);
    }
    return session;
  }

  /** The store has died: what its sessions had not finished stays as it is. */
  public void crashed() {
    synchronized (builder) {
      abandonSessions();
      builder.crashed(clock.getAsLong());
    }
  }

  /** The store was closed in order. */
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
   * What was recorded; what is still open counts as abandoned.
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
