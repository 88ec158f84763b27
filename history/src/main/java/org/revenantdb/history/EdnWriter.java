package org.revenantdb.history;

import java.io.IOException;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.IntStream;

/**
 * Writes a history in the format of Jepsen, one event a line, for Elle: {@code :txn} operations of
 * {@code :append}, {@code :w} and {@code :r}.
 *
 * <p>Elle knows no lives. The end of a life is an event of the process {@code :nemesis}, which Elle
 * ignores. In the next life a process has another number, as Jepsen does it for a process whose
 * operation was never answered. It also gets another number if it begins a transaction at the place
 * at which the one before ended, because equal places are no order. A commit that was acknowledged
 * lazily has {@code :lazy true}. Elle reports it as an anomaly if a crash takes such a commit back,
 * so a second opinion on several lives is most useful if all commits are durable.
 *
 * <p>Elle knows no ranges either. A range read is written as a read of each of its keys that was
 * ever written, whether it was found or not. So a phantom is still visible, under the name of an
 * item anomaly.
 *
 * <p>Threads: any; each call by itself.
 */
public final class EdnWriter {

  static final String NEMESIS = ":nemesis";
  static final String CRASH = ":crash";
  static final String CLOSE = ":close";

  /** The part of a history to write, because each of Elle's checkers knows one workload. */
  public enum Part {
    /** Lists and registers. */
    ALL,
    /** Lists alone, for {@code list-append}. */
    LISTS,
    /** Registers alone, for {@code rw-register}. */
    REGISTERS
  }

  private final History history;
  private final Part part;
  private final Appendable out;
  private int index;

  private EdnWriter(History history, Part part, Appendable out) {
    this.history = RangeReads.asReads(history);
    this.part = part;
    this.out = out;
  }

  /** The beginning or the end of a transaction, or the end of a life if there is none. */
  private record Event(int life, long place, boolean begins, int transaction) {

    boolean endsLife() {
      return transaction < 0;
    }
  }

  /**
   * Writes a history.
   *
   * @param history the history
   * @param out receives the text
   * @throws IOException if writing fails
   */
  public static void write(History history, Appendable out) throws IOException {
    write(history, Part.ALL, out);
  }

  /**
   * Writes a part of a history: the accesses of each transaction to keys of one workload. A
   * transaction without such accesses is left out.
   *
   * @param history the history
   * @param part the part to write
   * @param out receives the text
   * @throws IOException if writing fails
   */
  public static void write(History history, Part part, Appendable out) throws IOException {
    new EdnWriter(history, part, out).write();
  }

  private boolean isOfPart(int access) {
    return part == Part.ALL || (part == Part.LISTS) == history.accesses().isOfList(access);
  }

  private boolean hasPart(int t) {
    boolean has = part == Part.ALL;
    for (int a = history.firstAccess(t); a < history.firstAccess(t + 1) && !has; a++) {
      has = isOfPart(a);
    }
    return has;
  }

  private void write() throws IOException {
    List<Event> events = new ArrayList<>();
    for (int t = 0; t < history.size(); t++) {
      if (hasPart(t)) {
        int life = history.life(t);
        events.add(new Event(life, history.invoked(t), /* begins= */ true, t));
        long end = Math.min(history.completed(t), history.endOf(life));
        events.add(new Event(life, end, /* begins= */ false, t));
      }
    }
    for (int life = 0; life < history.lives() - 1; life++) {
      events.add(new Event(life, history.endOf(life), /* begins= */ false, -1));
    }
    // Beginnings come before ends at the same place: equal places are no order.
    events.sort(
        Comparator.comparingInt(Event::life)
            .thenComparingLong(Event::place)
            .thenComparing(event -> !event.begins)
            .thenComparing(Event::endsLife));
    int[] names = names();
    for (Event event : events) {
      if (event.endsLife()) {
        String how = history.endedInOrder(event.life) ? CLOSE : CRASH;
        line(":info", NEMESIS, ":f " + how + ", :value nil");
      } else {
        operation(event, names[event.transaction]);
      }
    }
  }

  /** The last transaction of a process, and the number that the process has in the file. */
  private record Client(int number, int transaction) {}

  /**
   * The number of each transaction's process in the file. A process keeps its number until it
   * cannot go on under it. Then it gets one that no process has.
   */
  private int[] names() {
    Set<Integer> taken = new HashSet<>();
    int next = -1;
    for (int t = 0; t < history.size(); t++) {
      taken.add(history.process(t));
      next = Math.max(next, history.process(t));
    }
    int[] names = new int[history.size()];
    Map<Integer, Client> clients = new HashMap<>();
    for (int t : inOrder()) {
      Client former = clients.get(history.process(t));
      int number = former == null ? history.process(t) : former.number;
      if (former != null && !goesOn(former.transaction, t)) {
        do {
          next++; // behind the largest number comes the smallest
        } while (!taken.add(next));
        number = next;
      }
      clients.put(history.process(t), new Client(number, t));
      names[t] = number;
    }
    return names;
  }

  private List<Integer> inOrder() {
    return IntStream.range(0, history.size())
        .boxed()
        .sorted(Comparator.<Integer>comparingInt(history::life).thenComparingLong(history::invoked))
        .toList();
  }

  /** Whether a process begins a transaction in the file behind the answer of its former one. */
  private boolean goesOn(int former, int t) {
    return history.outcome(former) != TransactionOutcome.UNKNOWN
        && history.life(former) == history.life(t)
        && history.completed(former) < history.invoked(t);
  }

  private void operation(Event event, int process) throws IOException {
    int t = event.transaction;
    TransactionOutcome outcome = history.outcome(t);
    String type =
        event.begins
            ? ":invoke"
            : switch (outcome) {
              case DURABLE, LAZY -> ":ok";
              case ABORTED -> ":fail";
              case UNKNOWN -> ":info";
            };
    boolean answered = type.equals(":ok");
    boolean lazy = answered && outcome == TransactionOutcome.LAZY;
    line(
        type,
        Integer.toString(process),
        ":f :txn, :value " + value(t, answered) + (lazy ? ", :lazy true" : ""));
  }

  private void line(String type, String process, String rest) throws IOException {
    out.append("{:index ").append(Integer.toString(index++));
    out.append(", :type ").append(type);
    out.append(", :process ").append(process);
    out.append(", ").append(rest).append("}\n");
  }

  private String value(int t, boolean answered) {
    StringBuilder text = new StringBuilder("[");
    for (int a = history.firstAccess(t); a < history.firstAccess(t + 1); a++) {
      if (!isOfPart(a)) {
        continue;
      }
      text.append(text.length() == 1 ? "" : " ");
      switch (history.accesses().get(a)) {
        case Access.Append(int key, int value) -> micro(text, ":append", key, value);
        case Access.Write(int key, int value) -> micro(text, ":w", key, value);
        case Access.ReadRegister(int key, int value) ->
            micro(text, ":r", key, answered && value != Access.NIL ? value : "nil");
        case Access.ReadList(int key, List<Integer> list) ->
            micro(text, ":r", key, answered ? vector(list) : "nil");
        case Access.ReadLists range -> throw new IllegalStateException(range + " is not a read");
        case Access.ReadRegisters range ->
            throw new IllegalStateException(range + " is not a read");
      }
    }
    return text.append(']').toString();
  }

  private void micro(StringBuilder text, String f, int key, Object value) {
    text.append('[').append(f).append(' ').append(history.keyText(key));
    text.append(' ').append(value).append(']');
  }

  private static String vector(List<Integer> list) {
    return list.toString().replace(",", "");
  }
}
