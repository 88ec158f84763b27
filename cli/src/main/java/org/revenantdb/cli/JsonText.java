package org.revenantdb.cli;

import com.google.gson.JsonParseException;
import com.google.gson.JsonParser;
import com.google.gson.JsonPrimitive;

/** Texts in quotes, with the escapes of JSON. */
final class JsonText {
  private JsonText() {}

  static void append(String value, StringBuilder out) {
    String json = new JsonPrimitive(value).toString();
    json.codePoints()
        .forEach(each -> {
          if (Notation.isPrintable(each)) {
            out.appendCodePoint(each);
          } else {
            for (char half : Character.toChars(each)) {
              out.append("\\u%04x".formatted((int) half));
            }
          }
        });
  }

  /** The end of the text whose quote is at a position; -1 if it does not end. */
  static int endOf(String text, int quote) {
    for (int i = quote + 1; i < text.length(); i++) {
      if (text.charAt(i) == '\\') {
        i++;
      } else if (text.charAt(i) == '"') {
        return i + 1;
      }
    }
    return -1;
  }

  /**
   * The value of a text in quotes.
   *
   * @throws NotationException if an escape is wrong
   */
  static String read(String quoted) {
    try {
      return JsonParser.parseString(quoted).getAsString();
    } catch (JsonParseException wrong) {
      throw new NotationException(quoted + " is not a text as JSON writes it");
    }
  }
}
