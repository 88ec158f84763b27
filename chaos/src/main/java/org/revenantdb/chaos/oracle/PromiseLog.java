package org.revenantdb.chaos.oracle;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.Consumer;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.trace.TraceClock;

/**
 * What a subject said over its lives, in order.
 *
 * <p>Threads: any may say something at any time. It is looked at when nobody speaks any more; then
 * by any thread, several at once.
 */
public final class PromiseLog {

  private final List<PromiseEvent> events = new ArrayList<>();
  private final AtomicLong groups = new AtomicLong();
  private final boolean keeps;
  private volatile Consumer<PromiseEvent> listener;

  /** Creates an empty log. */
  public PromiseLog() {
    this.keeps = true;
    this.listener = event -> {};
  }

  /**
   * Creates a log that hands everything on and keeps nothing, for a process that will be killed.
   *
   * @param sink called by the thread that said it, before the call returns to the subject
   */
  public PromiseLog(Consumer<PromiseEvent> sink) {
    this.keeps = false;
    this.listener = sink;
  }

  /**
   * Makes a log again from its events.
   *
   * @param events in the order in which they were said, with a {@link PromiseEvent.Crash} between
   *     two lives
   * @return a log that can be continued
   */
  public static PromiseLog of(List<PromiseEvent> events) {
    PromiseLog log = new PromiseLog();
    log.events.addAll(events);
    return log;
  }

  /**
   * Hands everything that is said from now on to somebody else, too.
   *
   * @param other called by the thread that said it, before the call returns to the subject
   * @return this
   */
  public PromiseLog listener(Consumer<PromiseEvent> other) {
    listener = listener.andThen(other);
    return this;
  }

  /**
   * What a subject is given to speak with, in this life.
   *
   * @param clock from which every word takes its place; the recording's own
   * @param seed of this life
   * @return for any number of threads
   */
  public Promises promises(TraceClock clock, long seed) {
    return new PromiseWriter(clock, seed, groups, this::said);
  }

  private void said(PromiseEvent event) {
    if (keeps) {
      synchronized (events) {
        events.add(event);
      }
    }
    listener.accept(event);
  }

  /**
   * Everything that was said.
   *
   * @return a copy
   */
  public List<PromiseEvent> events() {
    synchronized (events) {
      return List.copyOf(events);
    }
  }

  /**
   * Whether nothing was said.
   *
   * @return true if there is no event but crashes
   */
  public boolean isEmpty() {
    return events().stream().allMatch(PromiseEvent.Crash.class::isInstance);
  }
}
