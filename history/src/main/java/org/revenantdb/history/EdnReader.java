package org.revenantdb.history;

import java.io.IOException;
import java.math.BigInteger;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Reads a history in the format of {@link EdnWriter}, Jepsen and Elle: events whose {@code :value}
 * is a vector of {@code [:append key value]}, {@code [:w key value]} and {@code [:r key value]}.
 *
 * <p>Places are the order of the events; {@code :index} and {@code :time} are not used. The rules:
 *
 * <ul>
 *   <li>An event with a {@code :process} that is no number is not of a client. It is ignored,
 *       except {@code :f :crash} and {@code :f :close}, which end a life of the store. If it has
 *       operations on keys, it is refused.
 *   <li>{@code :ok} is a durable commit ({@code :lazy true}: a lazy one), {@code :fail} a rollback,
 *       {@code :info} an unknown outcome. An invocation without an answer has an unknown outcome,
 *       too.
 *   <li>Of transactions that are not {@code :ok} only the writes count. If their {@code :value} has
 *       no operations, those of the invocation do.
 *   <li>A transaction without an invocation may have begun when the one before it of its process
 *       had ended.
 *   <li>A {@code :fail} or {@code :info} behind the end of a life answers an invocation of that
 *       life. An {@code :ok} there is refused, because it does not show which life has committed.
 *   <li>A read of {@code nil} by an {@code :ok} is an empty list if the key is a list anywhere in
 *       the file, or else a register that was never written.
 *   <li>A key is an integer or any keyword, symbol or string. Keys that are equal in EDN are one
 *       key. A value is an integer.
 * </ul>
 *
 * <p>Threads: any; each call by itself.
 */
public final class EdnReader {

  private static final List<String> ANSWERS = List.of(":ok", ":fail", ":info");
  private static final List<String> OPERATIONS = List.of(":r", ":w", ":append");

  /** Between two events is room for an invocation that the file does not have. */
  private static final int STEP = 2;

  private static final int NO_LINE = History.NO_LINE;

  private final EdnText text;
  private final Map<Integer, Begun> open = new TreeMap<>();

  /** Of each process, the invocation that was open when its life ended, until its next event. */
  private final Map<Integer, Cut> cut = new HashMap<>();

  /** Of each process, the last answer. */
  private final Map<Integer, Ended> last = new HashMap<>();

  private final List<Entry> entries = new ArrayList<>();
  private long place;

  private EdnReader(EdnText text) {
    this.text = text;
  }

  /** An invocation. */
  private record Begun(long place, int line, @Nullable Object value) {}

  /** An invocation whose life ended before an answer, with its entry and the line of that end. */
  private record Cut(Begun begun, int entry, int line) {}

  /** What the history gets, in the order of the file. */
  private sealed interface Entry {}

  private record End(long place, boolean inOrder) implements Entry {}

  private record Ended(
      int process,
      long begun,
      long place,
      int lineBegun,
      int line,
      TransactionOutcome outcome,
      List<Micro> did)
      implements Entry {}

  /** A micro-operation: a read of nothing may still be of a list or of a register. */
  private record Micro(String f, Object key, @Nullable Object value) {

    boolean isOfList() {
      return f.equals(":append") || value instanceof List<?>;
    }
  }

  /**
   * Reads a history.
   *
   * @param text the events, one map each, with or without a vector around them
   * @return the history
   * @throws IllegalArgumentException if the text is not a history; the message has the line, and
   *     what can be done
   */
  public static History read(String text) {
    return new EdnReader(new EdnText("text", text)).read();
  }

  /**
   * Reads the history in a file.
   *
   * @param file in UTF-8
   * @return the history
   * @throws IOException if the file cannot be read
   * @throws IllegalArgumentException if it is not a history; the message has the file, the line,
   *     and what can be done
   */
  public static History read(Path file) throws IOException {
    return read(file.toString(), file);
  }

  /** Reads a file that has another name in messages. */
  static History read(String name, Path file) throws IOException {
    return new EdnReader(new EdnText(name, Files.readString(file))).read();
  }

  private History read() {
    events();
    if (entries.stream().noneMatch(Ended.class::isInstance)) {
      throw text.refusal(
          text.line(),
          "there is no transaction up to the end: an event of a client is {:type :ok, :process 0, :value [[:append 1 2]]}");
    }
    return history();
  }

  /** The events, and no bracket or one pair of brackets around them. */
  private void events() {
    char closes = 0;
    int opened = NO_LINE;
    while (text.skipBlank()) {
      int line = text.line();
      char next = text.next();
      if (next == '[' || next == '(') {
        if (closes != 0) {
          throw text.refusal(
              line,
              "a bracket opens inside that of line %d: an event is a map, {:type :ok, :process 0, :value [...]}"
                  .formatted(opened));
        }
        closes = next == '[' ? ']' : ')';
        opened = line;
        text.skip();
      } else if (closes != 0 && next == closes) {
        closes = 0;
        text.skip();
      } else if (text.value() instanceof Map<?, ?> event) {
        event(event, line);
      } else {
        throw text.refusal(line, "an event is a map, {:type :ok, :process 0, :value [...]}");
      }
    }
    if (closes != 0) {
      throw text.refusal(
          opened,
          "a bracket is not closed by %c behind the last event: the file is not complete"
              .formatted(closes));
    }
    endOpen(NO_LINE);
  }

  private void event(Map<?, ?> event, int line) {
    place += STEP;
    String type = shown(event.get(":type"));
    if (!(event.get(":process") instanceof Integer process)) {
      notOfAClient(event, line);
    } else if (type.equals(":invoke")) {
      cut.remove(process);
      Begun former = open.put(process, new Begun(place, line, event.get(":value")));
      if (former != null) {
        throw text.refusal(
            line,
            "process %d begins a transaction, but that of line %d has no answer: end it with :info, or give the process another number"
                .formatted(process, former.line));
      }
    } else if (ANSWERS.contains(type)) {
      answer(event, line, process, type);
    } else {
      throw text.refusal(
          line, "an event has :type %s: use :invoke, :ok, :fail or :info".formatted(type));
    }
  }

  private void notOfAClient(Map<?, ?> event, int line) {
    String how = shown(event.get(":f"));
    Object process = event.get(":process");
    if (how.equals(EdnWriter.CRASH) || how.equals(EdnWriter.CLOSE)) {
      endOpen(line);
      place += STEP;
      entries.add(new End(place, how.equals(EdnWriter.CLOSE)));
    } else if (process == null) {
      throw text.refusal(
          line,
          "an event has no :process: give each client a number, and other processes a name such as :nemesis");
    } else if (usesKeys(event.get(":value"))) {
      throw text.refusal(
          line,
          "a client is process %s: give each client a number of at most 31 bits"
              .formatted(shown(process)));
    }
  }

  private static boolean usesKeys(@Nullable Object value) {
    return value instanceof List<?> list
        && list.stream()
            .anyMatch(one ->
                one instanceof List<?> parts
                    && !parts.isEmpty()
                    && OPERATIONS.contains(shown(parts.getFirst())));
  }

  private void answer(Map<?, ?> event, int line, int process, String type) {
    Begun begun = open.remove(process);
    Cut late = begun == null ? cut.remove(process) : null;
    Object value = event.get(":value");
    TransactionOutcome outcome =
        switch (type) {
          case ":ok" ->
              Boolean.TRUE.equals(event.get(":lazy"))
                  ? TransactionOutcome.LAZY
                  : TransactionOutcome.DURABLE;
          case ":fail" -> TransactionOutcome.ABORTED;
          default -> TransactionOutcome.UNKNOWN;
        };
    if (late != null) {
      answerLate(late, value, line, outcome);
    } else {
      entries.add(ended(process, begun, line, outcome, did(begun, value, line, outcome)));
    }
  }

  /** The operations that count. */
  private List<Micro> did(
      @Nullable Begun begun, @Nullable Object value, int line, TransactionOutcome outcome) {
    boolean answered = outcome == TransactionOutcome.DURABLE || outcome == TransactionOutcome.LAZY;
    if (answered || hasOperations(value)) {
      return operations(value, line, answered);
    }
    if (begun != null && begun.value != null) {
      return operations(begun.value, begun.line, /* reads= */ false);
    }
    if (outcome == TransactionOutcome.UNKNOWN) {
      throw text.refusal(
          begun == null ? line : begun.line,
          "the writes of a transaction without an answer are not in the file: give its :invoke or its :info a :value such as [[:append 2 3]]");
    }
    return List.of(); // no read can show its writes rightly
  }

  private static boolean hasOperations(@Nullable Object value) {
    return value instanceof List<?> list && list.stream().allMatch(List.class::isInstance);
  }

  private void answerLate(Cut late, @Nullable Object value, int line, TransactionOutcome outcome) {
    Ended unanswered = (Ended) entries.get(late.entry);
    if (outcome == TransactionOutcome.DURABLE || outcome == TransactionOutcome.LAZY) {
      throw text.refusal(
          line,
          "process %d is answered after its life ended in line %d: put the :ok before that line if the transaction was committed before, or end it with :info and give the process another number"
              .formatted(unanswered.process, late.line));
    }
    Ended answered =
        new Ended(
            unanswered.process,
            unanswered.begun,
            unanswered.place,
            unanswered.lineBegun,
            line,
            outcome,
            did(late.begun, value, line, outcome));
    entries.set(late.entry, answered);
    last.put(unanswered.process, answered);
  }

  private Ended ended(
      int process, @Nullable Begun begun, int line, TransactionOutcome outcome, List<Micro> did) {
    Ended former = last.get(process);
    long from = begun != null ? begun.place : former == null ? 1 : former.place + 1;
    Ended ended =
        new Ended(process, from, place, begun == null ? NO_LINE : begun.line, line, outcome, did);
    last.put(process, ended);
    return ended;
  }

  /** Invocations that nothing answers: at the end of a life in a line, or of the file. */
  private void endOpen(int line) {
    place += STEP;
    cut.clear();
    open.forEach((process, begun) -> {
      demandNotAnsweredBefore(process, begun);
      List<Micro> did = did(begun, begun.value, begun.line, TransactionOutcome.UNKNOWN);
      cut.put(process, new Cut(begun, entries.size(), line));
      entries.add(ended(process, begun, NO_LINE, TransactionOutcome.UNKNOWN, did));
    });
    open.clear();
  }

  private void demandNotAnsweredBefore(int process, Begun begun) {
    Ended former = last.get(process);
    if (former != null && former.lineBegun == NO_LINE && former.line != NO_LINE) {
      List<Micro> writes = did(begun, begun.value, begun.line, TransactionOutcome.UNKNOWN);
      if (!writes.isEmpty() && former.did.containsAll(writes)) {
        throw text.refusal(
            begun.line,
            "process %d is answered in line %d, before it begins: put the events in the order in which they happened"
                .formatted(process, former.line));
      }
    }
  }

  private List<Micro> operations(@Nullable Object value, int line, boolean reads) {
    if (!(value instanceof List<?> list)) {
      throw text.refusal(
          line,
          "the :value of a transaction is a vector of operations such as [[:r 1 nil] [:append 2 3]], but is %s: leave out other events of clients"
              .formatted(shown(value)));
    }
    List<Micro> all = new ArrayList<>();
    for (Object one : list) {
      Micro micro = operation(one, line);
      if (reads || !micro.f.equals(":r")) {
        all.add(micro);
      }
    }
    return all;
  }

  private Micro operation(@Nullable Object one, int line) {
    if (!(one instanceof List<?> parts && parts.size() == 3 && parts.getFirst() != null)) {
      throw text.refusal(
          line,
          "an operation is [f key value] with f :r, :w or :append, but is %s"
              .formatted(shown(one)));
    }
    String f = shown(parts.getFirst());
    Object key = parts.get(1);
    Object value = parts.get(2);
    if (!(key instanceof Integer || key instanceof BigInteger || key instanceof String)) {
      throw text.refusal(
          line,
          "a key is an integer, a keyword, a symbol or a string, but is %s: give it a name"
              .formatted(shown(key)));
    }
    switch (f) {
      case ":append", ":w" -> number(value, line);
      case ":r" -> {
        if (value instanceof List<?> elements) {
          elements.forEach(element -> number(element, line));
        } else if (value != null) {
          number(value, line);
        }
      }
      default ->
          throw text.refusal(
              line,
              "an operation is :r, :w or :append, but is %s: no other operation can be checked"
                  .formatted(f));
    }
    return new Micro(f, key, value);
  }

  private void number(@Nullable Object value, int line) {
    if (!(value instanceof Integer number) || number == Access.NIL) {
      throw text.refusal(
          line,
          "a value is an integer of at most 31 bits, but is %s: number the values, and write a list that was read as a vector"
              .formatted(shown(value)));
    }
  }

  private static String shown(@Nullable Object value) {
    return Objects.toString(value, "nil");
  }

  private History history() {
    Set<Object> lists = new HashSet<>();
    Set<Integer> numbers = new HashSet<>();
    Map<Object, Integer> keys = new LinkedHashMap<>();
    for (Entry entry : entries) {
      if (entry instanceof Ended ended) {
        for (Micro micro : ended.did) {
          if (micro.isOfList()) {
            lists.add(micro.key);
          }
          if (micro.key instanceof Integer number) {
            numbers.add(number);
          }
          keys.put(micro.key, 0);
        }
      }
    }
    History.Builder builder = new History.Builder();
    number(keys, numbers, builder);
    for (Entry entry : entries) {
      switch (entry) {
        case End(long at, boolean inOrder) -> {
          var _ = inOrder ? builder.closed(at) : builder.crashed(at);
        }
        case Ended ended -> {
          Access[] accesses =
              ended.did.stream().map(micro -> access(micro, keys, lists)).toArray(Access[]::new);
          builder.add(ended.process, ended.begun, ended.place, ended.outcome, accesses);
          builder.lines(ended.lineBegun, ended.line);
        }
      }
    }
    return builder.build();
  }

  /** Keys that are integers stay as they are; others get the lowest numbers that are free. */
  private static void number(
      Map<Object, Integer> keys, Set<Integer> numbers, History.Builder builder) {
    int free = Integer.MIN_VALUE;
    for (Map.Entry<Object, Integer> key : keys.entrySet()) {
      if (key.getKey() instanceof Integer number) {
        key.setValue(number);
      } else {
        while (numbers.contains(free)) {
          free++;
        }
        builder.name(free, key.getKey().toString());
        key.setValue(free++);
      }
    }
  }

  private static Access access(Micro micro, Map<Object, Integer> keys, Set<Object> lists) {
    int key = Objects.requireNonNull(keys.get(micro.key));
    return switch (micro.value) {
      case List<?> list ->
          new Access.ReadList(key, list.stream().map(Integer.class::cast).toList());
      case Integer value when micro.f.equals(":append") -> Access.append(key, value);
      case Integer value when micro.f.equals(":w") -> Access.write(key, value);
      case Integer value -> Access.read(key, value);
      case null, default ->
          lists.contains(micro.key) ? Access.readList(key) : Access.read(key, Access.NIL);
    };
  }
}
