package org.revenantdb.chaos.oracle;

import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Writes that are there together or not at all, and when what was said of them. A single write is a
 * transaction of its own.
 *
 * <p>It is asked from the point of view of a crash: what was said at that place or later does not
 * count, but for the window in which the store may have been asked already.
 *
 * <p>Threads: built by one, read by any.
 */
final class PromisedTransaction {
  /*
   * Places of the last life are those of its clock, from 1. Former lives have places below 0, in their order, so that
   * a crash point of the last life lies behind all of them.
   *
   *   attempted       the store may have been asked since; NEVER: it was not asked
   *   announced       whether a word says so at that very place; else `attempted` is where its life began
   *   told            the word that says so
   *   spoken          of what was not announced: its thread wrote before it what it was promised before this place
   *   answered        the first durable or lazy answer; NEVER: none
   *   durable         it must be there since: its own answer, a flush, a durable reader; NEVER: it need not
   *   rolledBack      it must not be there since; NEVER: not taken back
   *   lifeEnded       the crash that decided what had no answer; NEVER: the life goes on
   */

  /** Behind every crash point. */
  static final long NEVER = Long.MAX_VALUE;

  final int number;
  final int life;
  final long lifeEnded;

  /** Who spoke of it; nobody if it was handed from one thread to another. */
  long threadId;

  final String thread;

  /** The first word about it, or where its window begins. */
  final long begun;

  /** What each key became; a value that is null is none. */
  final Map<Bytes, @Nullable Bytes> writes = new LinkedHashMap<>();

  long attempted = NEVER;

  /** When we were told that it had been attempted. */
  long told = NEVER;

  boolean announced;
  long spoken = NEVER;

  /** Whether it may be another word about a transaction that is known already. */
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

  /** Whether its writes had been named by then and must not be there. */
  boolean mustNotBeThere(long crash) {
    return begun < crash && !mayBeThere(crash);
  }

  /** Whether it must be there after a crash at that place. */
  boolean mustBeThere(long crash) {
    return durable < crash && mayBeThere(crash);
  }

  /** Whether it was accepted and may be lost, with all that came after it. */
  boolean isLazy(long crash) {
    return answered < crash && durable >= crash && mayBeThere(crash);
  }

  /**
   * When it was decided whether it comes before others: all that was attempted at this place or
   * behind it comes after it. (At this place: the end of a life is the beginning of the next one.)
   *
   * <p>A durable reader decides nothing. An answer may be to the announcement of one removal, or to
   * another removal of that key which was not announced; the two are then one here, with a window
   * that is right for both, though a reader may have seen the first before the second was made.
   */
  long decided(long crash) {
    return answered < crash ? answered : lifeEnded;
  }

  /** Whether this comes before another one that writes a key in common with it. */
  boolean isBefore(PromisedTransaction later, long crash) {
    return decided(crash) <= later.attempted || isSpokenOfBefore(later);
  }

  /**
   * Whether one thread was promised this before it spoke of another one that it had not announced:
   * of one key, a thread speaks in the order in which it wrote.
   */
  private boolean isSpokenOfBefore(PromisedTransaction later) {
    return !later.announced
        && life == later.life
        && threadId == later.threadId
        && answered < later.spoken;
  }

  /** What it is, for messages. */
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
