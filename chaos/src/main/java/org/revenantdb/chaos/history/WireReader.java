package org.revenantdb.chaos.history;

import java.util.Arrays;
import java.util.HashMap;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.revenantdb.history.Access;
import org.revenantdb.history.HistoryRecorder;
import org.revenantdb.history.HistorySession;
import org.revenantdb.history.TransactionOutcome;

/**
 * The parent's side of {@link WireSession}: passes each line to the recorder when it is read. The
 * lines of all sessions arrive in an order in which they were written. So a transaction whose end
 * was read before another one's beginning had ended by then.
 */
final class WireReader {

  private final HistoryRecorder recorder;
  private final Map<Integer, HistorySession> sessions = new HashMap<>();
  private long acknowledged;

  WireReader(HistoryRecorder recorder) {
    this.recorder = recorder;
  }

  /** The number of acknowledged commits. */
  long acknowledged() {
    return acknowledged;
  }

  void accept(String line) {
    String[] words = line.split(" ");
    HistorySession session = sessions.computeIfAbsent(Integer.valueOf(words[1]), recorder::session);
    switch (words[0]) {
      case "b" -> session.begin();
      case "a" -> session.appending(number(words, 2), number(words, 3));
      case "w" -> session.writing(number(words, 2), number(words, 3));
      case "l" -> {
        int[] values = Arrays.stream(words).skip(3).mapToInt(Integer::parseInt).toArray();
        session.readList(number(words, 2), values);
      }
      case "r" ->
          session.readRegister(number(words, 2), words.length > 3 ? number(words, 3) : Access.NIL);
      case "L" -> session.readLists(number(words, 2), number(words, 3), lists(words));
      case "R" -> session.readRegisters(number(words, 2), number(words, 3), registers(words));
      case "c" -> session.committing();
      case "e" -> {
        TransactionOutcome outcome = TransactionOutcome.valueOf(words[2]);
        session.ended(outcome);
        acknowledged += outcome == TransactionOutcome.ABORTED ? 0 : 1;
      }
      case "f" -> session.flushing();
      case "F" -> session.flushed();
      default -> throw new IllegalArgumentException("a child says " + line);
    }
  }

  private static SortedMap<Integer, int[]> lists(String[] words) {
    SortedMap<Integer, int[]> found = new TreeMap<>();
    for (int at = 4; at < words.length; ) {
      int first = at + 2;
      int[] values = new int[number(words, at + 1)];
      Arrays.setAll(values, i -> number(words, first + i));
      found.put(number(words, at), values);
      at = first + values.length;
    }
    return found;
  }

  private static SortedMap<Integer, Integer> registers(String[] words) {
    SortedMap<Integer, Integer> found = new TreeMap<>();
    for (int at = 4; at < words.length; at += 2) {
      found.put(number(words, at), number(words, at + 1));
    }
    return found;
  }

  private static int number(String[] words, int at) {
    return Integer.parseInt(words[at]);
  }
}
