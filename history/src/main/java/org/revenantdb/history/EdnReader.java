package org.revenantdb.history;

import java.io.IOException;
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
 *   <li>An event without {@code :process}, or with one that is no number, is not of a client. It is
 *       ignored, except {@code :f :crash} and {@code :f :close}, which end a life of the store.
 *   <li>{@code :ok} is a durable commit ({@code :lazy true}: a lazy one), {@code :fail} a rollback,
 *       {@code :info} an unknown outcome. An invocation without an answer has an unknown outcome,
 *       too.
 *   <li>Of transactions that are not {@code :ok} only the writes count. If their {@code :value} is
 *       {@code nil}, those of the invocation do.
 *   <li>A transaction without an invocation may have begun when the one before it of its process
 *       had ended.
 *   <li>A read of {@code nil} by an {@code :ok} is an empty list if the key is a list anywhere in
 *       the file, or else a register that was never written.
 *   <li>A key is an integer or any keyword, symbol or string. A value is an integer.
 * </ul>
 */
public final class EdnReader {

  private static final List<String> ANSWERS = List.of(":ok", ":fail", ":info");

  /** Between two events is room for an invocation that the file does not have. */
  private static final int STEP = 2;

  private final EdnText text;
  private final Map<Integer, Begun> open = new TreeMap<>();
  private final Map<Integer, Long> lastEnd = new HashMap<>();
  private final List<Entry> entries = new ArrayList<>();
  private long place;

  private EdnReader(EdnText text) {
    this.text = text;
  }

  /** An invocation. */
  private record Begun(long place, int line, @Nullable Object value) {}

  /** What the history gets, in the order of the file. */
  private sealed interface Entry {}

  private record End(long place, boolean inOrder) implements Entry {}

  private record Ended(
      int process, long begun, long place, TransactionOutcome outcome, List<Micro> did)
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
    return read("text", text);
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
    return read(file.toString(), Files.readString(file));
  }

  private static History read(String name, String text) {
    EdnReader reader = new EdnReader(new EdnText(name, text));
    reader.events();
    return reader.history();
  }

  private void events() {
    while (text.skipBlank()) {
      if (text.skip('[') || text.skip(']') || text.skip('(') || text.skip(')')) {
        continue; // around all events
      }
      int line = text.line();
      if (text.value() instanceof Map<?, ?> event) {
        event(event, line);
      } else {
        throw text.refusal(line, "an event is a map, {:type :ok, :process 0, :value [...]}");
      }
    }
    endOpen();
  }

  private void event(Map<?, ?> event, int line) {
    place += STEP;
    String type = String.valueOf(event.get(":type"));
    if (!(event.get(":process") instanceof Integer process)) {
      notOfAClient(event, line);
    } else if (type.equals(":invoke")) {
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
    if (event.get(":process") == null && event.get(":value") instanceof List<?>) {
      throw text.refusal(line, "a transaction has no :process: give each client a number");
    }
    String how = String.valueOf(event.get(":f"));
    if (how.equals(EdnWriter.CRASH) || how.equals(EdnWriter.CLOSE)) {
      endOpen();
      place += STEP;
      entries.add(new End(place, how.equals(EdnWriter.CLOSE)));
    }
  }

  private void answer(Map<?, ?> event, int line, int process, String type) {
    Begun begun = open.remove(process);
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
    boolean isAnswered = type.equals(":ok");
    List<Micro> did;
    if (value == null && !isAnswered) {
      did = begun == null ? List.of() : operations(begun.value, begun.line, /* reads= */ false);
    } else {
      did = operations(value, line, isAnswered);
    }
    end(process, begun, outcome, did);
  }

  private void end(
      int process, @Nullable Begun begun, TransactionOutcome outcome, List<Micro> did) {
    long from = begun == null ? lastEnd.getOrDefault(process, 0L) + 1 : begun.place;
    entries.add(new Ended(process, from, place, outcome, did));
    lastEnd.put(process, place);
  }

  /** Invocations that nothing answers: at the end of a life, or of the file. */
  private void endOpen() {
    place += STEP;
    open.forEach((process, begun) -> {
      List<Micro> did = operations(begun.value, begun.line, /* reads= */ false);
      end(process, begun, TransactionOutcome.UNKNOWN, did);
    });
    open.clear();
  }

  private List<Micro> operations(@Nullable Object value, int line, boolean reads) {
    if (!(value instanceof List<?> list)) {
      if (value == null && !reads) {
        return List.of();
      }
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
    String f = String.valueOf(parts.getFirst());
    Object key = parts.get(1);
    Object value = parts.get(2);
    if (!(key instanceof Integer || key instanceof String)) {
      throw text.refusal(
          line,
          "a key is an integer, a keyword or a string, but is %s: give it a name"
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
          "a value is an integer of at most 31 bits, but is %s: number the values"
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
        case Ended(
                int process,
                long from,
                long at,
                TransactionOutcome outcome,
                List<Micro> did) -> {
          Access[] accesses =
              did.stream().map(micro -> access(micro, keys, lists)).toArray(Access[]::new);
          builder.add(process, from, at, outcome, accesses);
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
