package org.revenantdb.suite.fuzz;

import java.util.Locale;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Sequence;
import org.revenantdb.engine.SequenceOptions;
import org.revenantdb.engine.SequenceOrder;

/** The sequences of a population; each can map a value to its number. */
enum KnownSequence {
  PLAIN(SequenceOptions.defaults().withStart(5).withIncrement(3)),
  REVERSED(SequenceOptions.defaults().withOrder(SequenceOrder.BIT_REVERSED).withCacheSize(7)),
  DOWN(SequenceOptions.defaults().withStart(-1).withIncrement(-1));

  @SuppressWarnings("ImmutableEnumChecker") // a record of values
  private final SequenceOptions options;

  KnownSequence(SequenceOptions options) {
    this.options = options;
  }

  /** Its name in the database. */
  String text() {
    return name().toLowerCase(Locale.ROOT);
  }

  /** The sequence with a name that the population uses. */
  static KnownSequence of(String text) {
    return valueOf(text.toUpperCase(Locale.ROOT));
  }

  /** Takes the next value, creating the sequence if needed; returns the value's number. */
  static long next(Database db, KnownSequence which) {
    Sequence sequence = db.getOrCreateSequence(which.text(), which.options);
    return which.number(sequence.next());
  }

  /**
   * The number of a value, from 0 in the order in which the values are given out; negative if it is
   * not a value of the sequence.
   */
  long number(long value) {
    long plain =
        options.order() == SequenceOrder.BIT_REVERSED
            ? Long.reverse(value) >>> 1 // of 63 bits
            : value;
    long distance = plain - options.start();
    return distance % options.increment() == 0 ? distance / options.increment() : -1;
  }
}
