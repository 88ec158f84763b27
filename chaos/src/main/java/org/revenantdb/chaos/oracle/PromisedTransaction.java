package org.revenantdb.chaos.oracle;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes that are there together or not at all, with the places of the reports about them. A single
 * write is a transaction of its own.
 *
 * <p>Queries are for a crash point: reports at that place or later do not count. They only
 * determine the window in which the store may have been called already.
 *
 * <p>Threads: built by one, read by any.
 */
final class PromisedTransaction {
  /*
   * Places of the last life are those of its clock, from 1. Former lives have places below 0, in
   * their order. So a crash point of the last life lies behind all of them.
   *
   *   attempted       the store may have been called since; NEVER: it was not called
   *   announced       whether a report was made at that very place; else `attempted` is where its
   *                   life began
   *   told            the report about the attempt
   *   spoken          if not announced: its thread wrote earlier everything that it was promised
   *                   before this place
   *   answered        the first durable or lazy answer; NEVER: none
   *   durable         it must be there since: its own answer, a flush, a durable reader; NEVER: it need not
   *   rolledBack      it must not be there since; NEVER: not rolled back
   *   lifeEnded       the crash that decided it if there was no answer; NEVER: the life continues
   */

  /** Behind every crash point. */
  static final long NEVER = Long.MAX_VALUE;

  final int number;
  final int life;
  final long lifeEnded;

  /** The thread of its report; none if it was passed from one thread to another. */
  long threadId;

  final String thread;

  /** The first report about it, or where its window begins. */
  final long begun;

  /** The new value of each key; null means none. */
  final Map<Bytes, @Nullable Bytes> writes = new LinkedHashMap<>();

  long attempted = NEVER;

  /** The place of the report that it had been attempted. */
  long told = NEVER;

  boolean announced;
  long spoken = NEVER;

  /** Whether the report may be a second one about a known transaction. */
  boolean again;

  long answered = NEVER;
  long durable = NEVER;
  long rolledBack = NEVER;

  PromisedTransaction(
      int number, int life, long lifeEnded, long threadId, String thread, long begun) {
    this.number = number;
    this.life = life;
    this.lifeEnded = lifeEnded;
    this.threadId = threadId;
    this.thread = thread;
    this.begun = begun;
  }

  /** Whether it may be there after a crash at that place. */
  boolean mayBeThere(long crash) {
    return attempted < crash && rolledBack >= crash;
  }

  /** Whether its writes had been reported by then and must not be there. */
  boolean mustNotBeThere(long crash) {
    return begun < crash && !mayBeThere(crash);
  }

  /** Whether it must be there after a crash at that place. */
  boolean mustBeThere(long crash) {
    return durable < crash && mayBeThere(crash);
  }

  /** Whether it was accepted and may be lost, with everything that came after it. */
  boolean isLazy(long crash) {
    return answered < crash && durable >= crash && mayBeThere(crash);
  }

  /**
   * The place at which its order was decided: all transactions attempted at this place or behind it
   * come after it. (At this place, because the end of a life is the beginning of the next one.)
   *
   * <p>A durable reader decides nothing. An answer may belong to the announcement of one removal,
   * or to another removal of that key which was not announced. The two are one transaction here,
   * with a window that is right for both. A reader may have seen the first before the second was
   * made.
   */
  long decided(long crash) {
    return answered < crash ? answered : lifeEnded;
  }

  /** Whether this comes before another one that writes a common key. */
  boolean isBefore(PromisedTransaction later, long crash) {
    return decided(crash) <= later.attempted || isSpokenOfBefore(later);
  }

  /**
   * Whether one thread received this promise before it reported another write that it had not
   * announced. For one key, a thread reports in the order in which it wrote.
   */
  private boolean isSpokenOfBefore(PromisedTransaction later) {
    return !later.announced
        && life == later.life
        && threadId == later.threadId
        && answered < later.spoken;
  }

  /** Its description in messages. */
  String describe(long crash) {
    StringBuilder text = new StringBuilder("transaction ").append(number);
    text.append(" (thread ").append(thread);
    if (lifeEnded != NEVER) {
      text.append(", a former life");
    }
    if (attempted < crash) {
      text.append(announced ? ", attempted at " + attempted : ", not announced");
    }
    if (rolledBack < crash) {
      text.append(", rolled back at ").append(rolledBack);
    } else if (attempted >= crash) {
      text.append(", announced at ").append(begun).append(", never committing");
    } else if (answered >= crash && durable >= crash) {
      text.append(", in flight");
    } else {
      if (answered < crash) {
        text.append(", acknowledged at ").append(answered);
      }
      text.append(durable < crash ? ", durable since " + durable : ", lazy");
    }
    return text.append(')').toString();
  }
}
