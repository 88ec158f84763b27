package org.revenantdb.chaos.history;

import java.util.Locale;

/** Transactions, accesses and versions in words, for whoever has to find the fault. */
final class Words {

  /** So many values of a long list are shown, the last ones. */
  private static final int SHOWN = 12;

  private static final int MOST_ACCESSES = 24;

  private final HistoryIndex index;
  private final History history;

  Words(HistoryIndex index) {
    this.index = index;
    this.history = index.history;
  }

  /** A transaction with all that it did. */
  String transaction(int t) {
    StringBuilder text = new StringBuilder();
    text.append('T').append(t);
    text.append(" (process ").append(history.process(t));
    if (history.lives() > 1) {
      text.append(" of life ").append(history.life(t));
    }
    text.append(", ").append(history.invoked(t)).append(" to ");
    text.append(history.completed(t) == History.NEVER ? "?" : history.completed(t)).append(", ");
    text.append(outcome(t)).append("):");
    int first = history.firstAccess(t);
    int end = history.firstAccess(t + 1);
    for (int a = first; a < end && a < first + MOST_ACCESSES; a++) {
      text.append(a == first ? " " : ", ").append(access(a));
    }
    if (end - first > MOST_ACCESSES) {
      text.append(", and ").append(end - first - MOST_ACCESSES).append(" more");
    }
    return text.toString();
  }

  private String outcome(int t) {
    String told = history.outcome(t).name().toLowerCase(Locale.ROOT);
    boolean seen = history.outcome(t) == TransactionOutcome.UNKNOWN && index.isCommitted(t);
    return seen ? told + " but seen" : told;
  }

  /** An access. */
  String access(int a) {
    Accesses accesses = index.accesses;
    int key = accesses.key(a);
    return switch (accesses.kind(a)) {
      case APPEND -> "append " + accesses.value(a) + " to " + key;
      case WRITE -> "write " + key + "=" + accesses.value(a);
      case READ_LIST -> "read " + key + "=" + list(a);
      case READ_REGISTER -> "read " + key + "=" + value(accesses.value(a));
    };
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

  /** A version of a key; the key is told by whoever says what happened to it. */
  String version(int version) {
    return version == HistoryIndex.NOTHING
        ? "nothing"
        : Integer.toString(index.accesses.value(version));
  }

  /** The key of a version. */
  String key(int version) {
    return Integer.toString(index.accesses.key(version));
  }
}
