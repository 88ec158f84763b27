package org.revenantdb.suite.model;

import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.oracle.Attempt;
import org.revenantdb.chaos.oracle.CrashOracle;
import org.revenantdb.suite.model.Store.Counters;

/**
 * The parent's side of a {@link WorkerMain}: passes its lines to the oracle, and counts.
 *
 * <p>Threads: one.
 */
final class ChildLedger {

  private static final int SPACE_SHIFT = 24;

  private final CrashOracle<RowKey> oracle;
  private final Map<Long, Attempt<RowKey>> open = new HashMap<>();
  private long lines;
  private long acknowledged;
  private long rolledBack;
  private boolean opening;
  private boolean opened;
  private boolean closing;
  private boolean closed;
  private long openNanos;
  private Counters counters = Counters.NONE;
  private @Nullable String failure;

  ChildLedger(CrashOracle<RowKey> oracle) {
    this.oracle = oracle;
  }

  /** The row as one number. */
  static long code(RowKey row) {
    return (long) row.space().number() << SPACE_SHIFT | row.number();
  }

  private static RowKey row(long code) {
    return KeySpace.ALL
        .get((int) (code >>> SPACE_SHIFT))
        .row((int) (code & ((1L << SPACE_SHIFT) - 1)));
  }

  void accept(String line) {
    lines++;
    Numbers numbers = new Numbers(line);
    switch (line.charAt(0)) {
      case 'I' -> opening = true;
      case 'O' -> {
        opened = true;
        openNanos = numbers.next();
      }
      case 'T' -> begin(numbers);
      case 'R' -> {
        Attempt<RowKey> attempt = attempt(numbers);
        oracle.add(attempt.read(row(numbers.next()), numbers.next()));
      }
      case 'W' -> {
        Attempt<RowKey> attempt = attempt(numbers);
        oracle.add(attempt.write(row(numbers.next()), numbers.next(), numbers.next()));
      }
      case 'C' -> attempt(numbers).committing();
      case 'A' -> {
        attempt(numbers).acknowledged(numbers.next());
        acknowledged++;
      }
      case 'X' -> {
        attempt(numbers).rolledBack();
        rolledBack++;
      }
      case 'S' ->
          counters =
              new Counters(
                  numbers.next(), numbers.next(), numbers.next(), numbers.next(), numbers.next());
      case 'F' -> failure = line.substring(2);
      case 'E' -> closing = true;
      case 'Z' -> closed = true;
      default -> throw new IllegalStateException("the child printed an unexpected line: " + line);
    }
  }

  private void begin(Numbers numbers) {
    long session = numbers.next();
    long n = numbers.next();
    long before = numbers.next();
    long begun = numbers.next();
    String name = "transaction %d of session %d, begun at %x".formatted(n, session, begun);
    Attempt<RowKey> attempt = new Attempt<>(name, before, begun);
    open.put(session, attempt);
    oracle.add(attempt);
  }

  private Attempt<RowKey> attempt(Numbers numbers) {
    long session = numbers.next();
    Attempt<RowKey> attempt = open.get(session);
    if (attempt == null) {
      throw new IllegalStateException(
          "session " + session + " reports a transaction that it has not begun");
    }
    return attempt;
  }

  long lines() {
    return lines;
  }

  long acknowledged() {
    return acknowledged;
  }

  long rolledBack() {
    return rolledBack;
  }

  boolean opening() {
    return opening;
  }

  boolean opened() {
    return opened;
  }

  boolean closing() {
    return closing;
  }

  boolean closed() {
    return closed;
  }

  long openNanos() {
    return openNanos;
  }

  Counters counters() {
    return counters;
  }

  @Nullable String failure() {
    return failure;
  }

  /** The hexadecimal numbers of a line, one after the other. */
  private static final class Numbers {

    private final String line;
    private int position = 1;

    Numbers(String line) {
      this.line = line;
    }

    long next() {
      int start = position + 1;
      int end = line.indexOf(' ', start);
      position = end < 0 ? line.length() : end;
      return Long.parseUnsignedLong(line, start, position, 16);
    }
  }
}
