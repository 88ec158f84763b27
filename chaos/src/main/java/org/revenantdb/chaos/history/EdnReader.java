package org.revenantdb.chaos.history;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads a history in the format of {@link EdnWriter} and Jepsen. Places are the order of the
 * events. For transactions that were rolled back or never answered only the writes are read,
 * because reads without an answer returned nothing.
 */
public final class EdnReader {

  private static final int DEEPEST = 16;

  private final String text;
  private int at;

  private EdnReader(String text) {
    this.text = text;
  }

  /**
   * Reads a history.
   *
   * @param text the events, one map each, with or without a vector around them
   * @return the history
   * @throws IllegalArgumentException if the text is not a history
   */
  public static History read(String text) {
    EdnReader reader = new EdnReader(text);
    Assembly assembly = new Assembly();
    while (reader.skipBlank()) {
      if (reader.text.charAt(reader.at) == '[' || reader.text.charAt(reader.at) == ']') {
        reader.at++; // the vector around all events
        continue;
      }
      if (reader.value(0) instanceof Map<?, ?> event) {
        assembly.add(event);
      } else {
        throw reader.refusal("an event is a map");
      }
    }
    return assembly.builder.build();
  }

  /** Events that are to become transactions. */
  private static final class Assembly {

    private final History.Builder builder = new History.Builder();
    private final Map<Object, Long> invoked = new HashMap<>();
    private long place;

    void add(Map<?, ?> event) {
      place++;
      String type = String.valueOf(event.get(":type"));
      Object process = Objects.requireNonNullElse(event.get(":process"), EdnWriter.NEMESIS);
      if (!(process instanceof Integer number)) {
        end(String.valueOf(event.get(":f")));
      } else if (type.equals(":invoke")) {
        invoked.put(process, place);
      } else {
        Long begun = invoked.remove(process);
        if (begun == null) {
          throw new IllegalArgumentException("process " + process + " ends what it never began");
        }
        builder.add(number, begun, place, outcome(type, event), accesses(type, event));
      }
    }

    private void end(String how) {
      switch (how) {
        case EdnWriter.CRASH -> builder.crashed(place);
        case EdnWriter.CLOSE -> builder.closed(place);
        default -> {} // other events of a nemesis
      }
    }

    private static TransactionOutcome outcome(String type, Map<?, ?> event) {
      return switch (type) {
        case ":ok" ->
            Boolean.TRUE.equals(event.get(":lazy"))
                ? TransactionOutcome.LAZY
                : TransactionOutcome.DURABLE;
        case ":fail" -> TransactionOutcome.ABORTED;
        case ":info" -> TransactionOutcome.UNKNOWN;
        default -> throw new IllegalArgumentException("an event of type " + type);
      };
    }

    private static Access[] accesses(String type, Map<?, ?> event) {
      List<Access> accesses = new ArrayList<>();
      if (event.get(":value") instanceof List<?> operations) {
        for (Object operation : operations) {
          Access access = access((List<?>) Objects.requireNonNull(operation));
          boolean isWrite = access instanceof Access.Append || access instanceof Access.Write;
          if (isWrite || type.equals(":ok")) {
            accesses.add(access);
          }
        }
      }
      return accesses.toArray(new Access[0]);
    }

    private static Access access(List<?> operation) {
      if (operation.size() != 3 || !(operation.get(1) instanceof Integer key)) {
        throw new IllegalArgumentException(
            "an operation must be [f key value], but is " + operation);
      }
      Object value = operation.get(2);
      return switch (String.valueOf(operation.get(0))) {
        case ":append" -> Access.append(key, number(value));
        case ":w" -> Access.write(key, number(value));
        case ":r" ->
            value instanceof List<?> list
                ? new Access.ReadList(key, list.stream().map(Assembly::number).toList())
                : Access.read(key, value == null ? Access.NIL : number(value));
        default -> throw new IllegalArgumentException("an operation " + operation);
      };
    }

    private static int number(@Nullable Object value) {
      if (value instanceof Integer number) {
        return number;
      }
      throw new IllegalArgumentException("a value must be an integer, but is " + value);
    }
  }

  /** Whether there is more text. */
  private boolean skipBlank() {
    while (at < text.length() && (Character.isWhitespace(text.charAt(at)) || here() == ',')) {
      at++;
    }
    return at < text.length();
  }

  private char here() {
    return text.charAt(at);
  }

  private IllegalArgumentException refusal(String what) {
    return new IllegalArgumentException(what + ", at character " + at);
  }

  private @Nullable Object value(int depth) {
    if (depth > DEEPEST || !skipBlank()) {
      throw refusal(depth > DEEPEST ? "too deep" : "the text ends too soon");
    }
    return switch (here()) {
      case '{' -> map(depth);
      case '[' -> list(']', depth);
      case '(' -> list(')', depth);
      case '"' -> string();
      case '#' -> {
        atom(); // a tag, as of a record: the value after it counts
        yield value(depth + 1);
      }
      default -> atom();
    };
  }

  private Map<Object, @Nullable Object> map(int depth) {
    List<@Nullable Object> all = list('}', depth);
    if (all.size() % 2 != 0) {
      throw refusal("a map has keys and values");
    }
    Map<Object, @Nullable Object> map = new HashMap<>();
    for (int i = 0; i < all.size(); i += 2) {
      map.put(Objects.requireNonNullElse(all.get(i), "nil"), all.get(i + 1));
    }
    return map;
  }

  private List<@Nullable Object> list(char end, int depth) {
    at++;
    List<@Nullable Object> list = new ArrayList<>();
    while (skipBlank() && here() != end) {
      list.add(value(depth + 1));
    }
    if (at == text.length()) {
      throw refusal("no " + end);
    }
    at++;
    return list;
  }

  private String string() {
    int from = ++at;
    while (at < text.length() && here() != '"') {
      at += here() == '\\' ? 2 : 1;
    }
    if (at >= text.length()) {
      throw refusal("a string does not end");
    }
    return text.substring(from, at++);
  }

  private @Nullable Object atom() {
    int from = at;
    while (at < text.length()
        && !Character.isWhitespace(here())
        && ",{}[]()\"".indexOf(here()) < 0) {
      at++;
    }
    String word = text.substring(from, at);
    if (word.isEmpty()) {
      throw refusal("no value that can be read");
    }
    return switch (word) {
      case "nil" -> null;
      case "true" -> true;
      case "false" -> false;
      default -> isNumber(word) ? (Object) Integer.valueOf(word) : word;
    };
  }

  private static boolean isNumber(String word) {
    String digits = word.startsWith("-") ? word.substring(1) : word;
    // Longer ones are times, which are not needed.
    return !digits.isEmpty()
        && digits.length() < 10
        && digits.chars().allMatch(c -> c >= '0' && c <= '9');
  }
}
