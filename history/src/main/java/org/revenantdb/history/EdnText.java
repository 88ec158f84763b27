package org.revenantdb.history;

import java.math.BigInteger;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Reads values of EDN, the text format of Clojure's data. Values that are equal in EDN are equal
 * here:
 *
 * <ul>
 *   <li>{@code nil}, {@code true} and {@code false}; maps; vectors and lists, both as {@link List}
 *   <li>an integer as {@link Integer} if it is one, or else as {@link BigInteger}
 *   <li>keywords and symbols as their text, strings as a text in quotes that equal strings share
 *   <li>sets, characters, other numbers, and all that is no EDN, as {@link Other}
 * </ul>
 *
 * <p>A tag is ignored; the value behind it counts.
 *
 * <p>Threads: one.
 */
final class EdnText {

  private static final int DEEPEST = 16;
  private static final char BYTE_ORDER_MARK = '\ufeff';
  private static final Pattern INTEGER = Pattern.compile("[+-]?(0|[1-9][0-9]*)N?");
  private static final Pattern OTHER_NUMBER = Pattern.compile("[+.-]?[0-9].*|[+-]\\.[0-9].*");

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
    this.at = !text.isEmpty() && text.charAt(0) == BYTE_ORDER_MARK ? 1 : 0;
  }

  /** A value that a history has no use for. */
  record Other(String text) {
    @Override
    public String toString() {
      return text;
    }
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
    return skipBlank(0);
  }

  private boolean skipBlank(int depth) {
    while (at < text.length()) {
      if (Character.isWhitespace(here()) || here() == ',') {
        step();
      } else if (here() == ';') {
        while (at < text.length() && here() != '\n' && here() != '\r') {
          at++;
        }
      } else if (text.startsWith("#_", at)) {
        at += 2;
        value(depth + 1);
      } else {
        return true;
      }
    }
    return false;
  }

  /** The next character, which must not be a blank; it stays the next one. */
  char next() {
    return here();
  }

  /** Skips a character that is no end of a line. */
  void skip() {
    at++;
  }

  @Nullable Object value() {
    return value(0);
  }

  private char here() {
    return text.charAt(at);
  }

  /** A line ends with LF, CR LF or CR. */
  private void step() {
    char passed = text.charAt(at++);
    boolean lineFeedFollows = at < text.length() && here() == '\n';
    line += passed == '\n' || (passed == '\r' && !lineFeedFollows) ? 1 : 0;
  }

  private @Nullable Object value(int depth) {
    if (depth > DEEPEST) {
      throw refusal("more than " + DEEPEST + " brackets or tags in each other: this is no history");
    }
    if (!skipBlank(depth)) {
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
      String elements = list('}', depth).toString();
      return new Other("#{" + elements.substring(1, elements.length() - 1) + "}"); // a set
    }
    if (at < text.length() && here() == '#') {
      return new Other("#" + word()); // infinity, or no number
    }
    word();
    return value(depth + 1);
  }

  private Map<@Nullable Object, @Nullable Object> map(int depth) {
    int begun = line;
    List<@Nullable Object> all = list('}', depth);
    if (all.size() % 2 != 0) {
      throw refusal(
          begun, "a map has a key without a value: write as many values as keys, as EDN has them");
    }
    Map<@Nullable Object, @Nullable Object> map = new HashMap<>();
    for (int i = 0; i < all.size(); i += 2) {
      if (map.containsKey(all.get(i))) {
        throw refusal(begun, "a map has the key " + all.get(i) + " twice: leave one of them out");
      }
      map.put(all.get(i), all.get(i + 1));
    }
    return map;
  }

  private List<@Nullable Object> list(char end, int depth) {
    int begun = line;
    at++;
    List<@Nullable Object> list = new ArrayList<>();
    while (skipBlank(depth) && here() != end) {
      list.add(value(depth + 1));
    }
    if (at == text.length()) {
      throw refusal(begun, "a bracket is not closed by " + end + ": the file is not complete");
    }
    at++;
    return list;
  }

  /** A string, in quotes. */
  private String string() {
    int begun = line;
    StringBuilder string = new StringBuilder();
    step();
    while (at < text.length() && here() != '"') {
      if (here() == '\\' && at + 1 < text.length()) {
        at++;
        escaped(string);
      } else {
        string.append(here());
        step();
      }
    }
    if (at == text.length()) {
      throw refusal(begun, "a string does not end: the file is not complete");
    }
    at++;
    return quoted(string);
  }

  /** A character behind a backslash. One that has no meaning there keeps the backslash. */
  private void escaped(StringBuilder to) {
    char what = here();
    step();
    switch (what) {
      case '"', '\\' -> to.append(what);
      case 'n' -> to.append('\n');
      case 't' -> to.append('\t');
      case 'r' -> to.append('\r');
      case 'b' -> to.append('\b');
      case 'f' -> to.append('\f');
      case 'u' -> {
        int end = Math.min(text.length(), at + 4);
        String digits = text.substring(at, end);
        if (!digits.matches("[0-9a-fA-F]{4}")) {
          throw refusal("a string has \\u without four digits of a character's code behind it");
        }
        to.append((char) Integer.parseInt(digits, 16));
        at = end;
      }
      default -> to.append('\\').append(what);
    }
  }

  private static String quoted(CharSequence string) {
    StringBuilder quoted = new StringBuilder("\"");
    for (int i = 0; i < string.length(); i++) {
      char character = string.charAt(i);
      switch (character) {
        case '"', '\\' -> quoted.append('\\').append(character);
        case '\n' -> quoted.append("\\n");
        case '\t' -> quoted.append("\\t");
        case '\r' -> quoted.append("\\r");
        default -> {
          if (character < ' ' || Character.isSurrogate(character)) {
            quoted.append(String.format("\\u%04x", (int) character));
          } else {
            quoted.append(character);
          }
        }
      }
    }
    return quoted.append('"').toString();
  }

  private Other character() {
    int from = at;
    at = Math.min(text.length(), at + 2); // the character itself may be a bracket
    word();
    return new Other(text.substring(from, at));
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
    return switch (word) {
      case "" -> throw refusal("'" + here() + "' closes a bracket that was not opened");
      case ":" -> throw refusal("':' stands alone: this may be JSON, and the file must be EDN");
      case "nil" -> null;
      case "true" -> true;
      case "false" -> false;
      default -> INTEGER.matcher(word).matches() ? integer(word) : other(word);
    };
  }

  private static Number integer(String word) {
    BigInteger number =
        new BigInteger(word.endsWith("N") ? word.substring(0, word.length() - 1) : word);
    if (number.bitLength() < Integer.SIZE) {
      return number.intValue();
    }
    return number;
  }

  private static Object other(String word) {
    return OTHER_NUMBER.matcher(word).matches() ? new Other(word) : word;
  }

  /**
   * The text in a file that stands for a name: the name itself if it is a keyword, a symbol, a
   * string in quotes or a long number, or else the name in quotes. No two names have the same text,
   * except a name and the same name in quotes. No text is that of an {@code int}.
   */
  static String keyText(String name) {
    try {
      Object value = new EdnText("name", name).value();
      boolean isKey = value instanceof String || value instanceof BigInteger;
      if (isKey && name.equals(Objects.toString(value))) {
        return name;
      }
    } catch (IllegalArgumentException _) {
      // is no value
    }
    return quoted(name);
  }
}
