package org.revenantdb.history;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Reads values of EDN, the text format of Clojure's data: maps, vectors, lists, sets, integers,
 * {@code nil}, {@code true} and {@code false}. Everything else is read as its own text: keywords,
 * symbols, strings with their quotes, characters, numbers that are no {@code int}. A tag is
 * ignored; the value behind it counts.
 */
final class EdnText {

  private static final int DEEPEST = 16;

  /** The integer with the most digits that may be an {@code int}: a sign and ten digits. */
  private static final int LONGEST_INT = 11;

  private final String name;
  private final String text;
  private int at;
  private int line = 1;

  /**
   * Begins at the start of a text.
   *
   * @param name of the file, for messages
   */
  EdnText(String name, String text) {
    this.name = name;
    this.text = text;
  }

  /** The line of what comes next. */
  int line() {
    return line;
  }

  /** An exception that names the file and a line. */
  IllegalArgumentException refusal(int where, String what) {
    return new IllegalArgumentException(name + ":" + where + ": " + what);
  }

  private IllegalArgumentException refusal(String what) {
    return refusal(line, what);
  }

  /** Whether there is more than blanks, commas, comments and values that are commented out. */
  boolean skipBlank() {
    while (at < text.length()) {
      if (Character.isWhitespace(here()) || here() == ',') {
        step();
      } else if (here() == ';') {
        while (at < text.length() && here() != '\n') {
          at++;
        }
      } else if (text.startsWith("#_", at)) {
        at += 2;
        value();
      } else {
        return true;
      }
    }
    return false;
  }

  /** Skips a character if it comes next. */
  boolean skip(char character) {
    boolean found = at < text.length() && here() == character;
    at += found ? 1 : 0;
    return found;
  }

  @Nullable Object value() {
    return value(0);
  }

  private char here() {
    return text.charAt(at);
  }

  private void step() {
    line += here() == '\n' ? 1 : 0;
    at++;
  }

  private @Nullable Object value(int depth) {
    if (depth > DEEPEST) {
      throw refusal("more than " + DEEPEST + " brackets in each other: this is no history");
    }
    if (!skipBlank()) {
      throw refusal("the text ends inside a value: the file is not complete");
    }
    return switch (here()) {
      case '{' -> map(depth);
      case '[' -> list(']', depth);
      case '(' -> list(')', depth);
      case '"' -> string();
      case '#' -> tagged(depth);
      case '\\' -> character();
      default -> atom();
    };
  }

  private @Nullable Object tagged(int depth) {
    at++;
    if (at < text.length() && here() == '{') {
      return list('}', depth); // a set
    }
    word();
    return value(depth + 1);
  }

  private Map<String, @Nullable Object> map(int depth) {
    int begun = line;
    List<@Nullable Object> all = list('}', depth);
    if (all.size() % 2 != 0) {
      throw refusal(begun, "a map has a key without a value");
    }
    Map<String, @Nullable Object> map = new HashMap<>();
    for (int i = 0; i < all.size(); i += 2) {
      map.put(Objects.toString(all.get(i)), all.get(i + 1));
    }
    return map;
  }

  private List<@Nullable Object> list(char end, int depth) {
    int begun = line;
    at++;
    List<@Nullable Object> list = new ArrayList<>();
    while (skipBlank() && here() != end) {
      list.add(value(depth + 1));
    }
    if (at == text.length()) {
      throw refusal(begun, "a bracket is not closed by " + end + ": the file is not complete");
    }
    at++;
    return list;
  }

  private String string() {
    int from = at;
    int begun = line;
    step();
    while (at < text.length() && here() != '"') {
      if (here() == '\\' && at + 1 < text.length()) {
        at++;
      }
      step();
    }
    if (at == text.length()) {
      throw refusal(begun, "a string does not end: the file is not complete");
    }
    return text.substring(from, ++at);
  }

  private String character() {
    int from = at;
    at = Math.min(text.length(), at + 2); // the character itself may be a bracket
    word();
    return text.substring(from, at);
  }

  private String word() {
    int from = at;
    while (at < text.length()
        && !Character.isWhitespace(here())
        && ",;{}[]()\"".indexOf(here()) < 0) {
      at++;
    }
    return text.substring(from, at);
  }

  private @Nullable Object atom() {
    String word = word();
    if (word.isEmpty()) {
      throw refusal("'" + here() + "' closes a bracket that was not opened");
    }
    return switch (word) {
      case "nil" -> null;
      case "true" -> true;
      case "false" -> false;
      default -> number(word);
    };
  }

  /** The number that a word is, or the word. */
  private static Object number(String word) {
    String digits = word.startsWith("-") ? word.substring(1) : word;
    boolean isShort = !digits.isEmpty() && word.length() <= LONGEST_INT;
    if (isShort && digits.chars().allMatch(c -> c >= '0' && c <= '9')) {
      long number = Long.parseLong(word);
      if ((int) number == number) {
        return (int) number;
      }
    }
    return word;
  }
}
