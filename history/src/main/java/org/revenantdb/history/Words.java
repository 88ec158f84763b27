package org.revenantdb.history;

import java.util.Locale;

/** Describes transactions, accesses and versions in reports. */
final class Words {

  /** The number of values of a long list that are shown: the last ones. */
  private static final int SHOWN = 12;

  private static final int MOST_ACCESSES = 24;

  private final HistoryIndex index;
  private final History history;

  Words(HistoryIndex index) {
    this.index = index;
    this.history = index.history;
  }

  /** A transaction with all its accesses. */
  String transaction(int t) {
    StringBuilder text = new StringBuilder();
    text.append('T').append(t);
    text.append(" (process ").append(history.process(t));
    if (history.lives() > 1) {
      text.append(" of life ").append(history.life(t));
    }
    text.append(", ").append(history.extent(t)).append(", ").append(outcome(t)).append("):");
    int end = history.firstAccess(t + 1);
    int shown = 0;
    int more = 0;
    for (int a = history.firstAccess(t), next; a < end; a = next) {
      next = behind(a, end);
      if (shown < MOST_ACCESSES) {
        text.append(shown++ == 0 ? " " : ", ");
        text.append(index.accesses.rangeOf(a) < 0 ? access(a) : range(a, next));
      } else {
        more++;
      }
    }
    return more == 0 ? text.toString() : text.append(", and " + more + " more").toString();
  }

  /** The number of the access behind one, or behind all reads of its range. */
  private int behind(int access, int end) {
    int range = index.accesses.rangeOf(access);
    int next = access + 1;
    while (range >= 0 && next < end && index.accesses.rangeOf(next) == range) {
      next++;
    }
    return next;
  }

  /** The keys that a range read found. Missing keys are reported where they matter. */
  private String range(int from, int to) {
    StringBuilder text = new StringBuilder(range(from)).append(" as {");
    String between = "";
    for (int a = from; a < to; a++) {
      if (!index.accesses.showsNothing(a)) {
        text.append(between).append(key(a)).append('=').append(shown(a));
        between = ", ";
      }
    }
    return text.append('}').toString();
  }

  private String range(int read) {
    int range = index.accesses.rangeOf(read);
    return "range [" + index.accesses.from(range) + ", " + index.accesses.to(range) + ")";
  }

  private String outcome(int t) {
    String told = history.outcome(t).name().toLowerCase(Locale.ROOT);
    boolean seen = history.outcome(t) == TransactionOutcome.UNKNOWN && index.isCommitted(t);
    return seen ? told + " but seen" : told;
  }

  /** An access. */
  String access(int a) {
    Accesses accesses = index.accesses;
    String key = key(a);
    return switch (accesses.kind(a)) {
      case APPEND -> "append " + accesses.value(a) + " to " + key;
      case WRITE -> "write " + key + "=" + accesses.value(a);
      case READ_LIST, READ_REGISTER ->
          accesses.rangeOf(a) < 0
              ? "read " + key + "=" + shown(a)
              : accesses.isAbsentInRange(a)
                  ? range(a) + " without " + key
                  : range(a) + " with " + key + "=" + shown(a);
      case RANGE_OF_LISTS, RANGE_OF_REGISTERS ->
          throw new IllegalStateException("ranges are taken apart before they are judged");
    };
  }

  private String shown(int read) {
    return index.accesses.isOfList(read) ? list(read) : value(index.accesses.value(read));
  }

  private String list(int a) {
    int length = index.accesses.length(a);
    StringBuilder text = new StringBuilder("[");
    int from = Math.max(0, length - SHOWN);
    if (from > 0) {
      text.append(from).append(" more ... ");
    }
    for (int at = from; at < length; at++) {
      text.append(at == from ? "" : " ").append(index.accesses.element(a, at));
    }
    return text.append(']').toString();
  }

  private static String value(int value) {
    return value == Access.NIL ? "nothing" : Integer.toString(value);
  }

  /** A version of a key. The text around it contains the key. */
  String version(int version) {
    return version == HistoryIndex.NOTHING
        ? "nothing"
        : Integer.toString(index.accesses.value(version));
  }

  /** The key of an access. */
  String key(int access) {
    return history.keyText(index.accesses.key(access));
  }
}
