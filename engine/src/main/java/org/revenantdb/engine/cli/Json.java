package org.revenantdb.engine.cli;

import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;

/** Writes maps, lists, strings, numbers and booleans as JSON. */
final class Json {
  private Json() {}

  static String of(Object value) {
    return switch (value) {
      case Map<?, ?> map ->
          map.entrySet().stream()
              .map(entry -> text(String.valueOf(entry.getKey())) + ": " + of(entry.getValue()))
              .collect(Collectors.joining(", ", "{", "}"));
      case List<?> list -> list.stream().map(Json::of).collect(Collectors.joining(", ", "[", "]"));
      case Number number -> number.toString();
      case Boolean truth -> truth.toString();
      default -> text(value.toString());
    };
  }

  private static String text(String value) {
    StringBuilder json = new StringBuilder("\"");
    for (int i = 0; i < value.length(); i++) {
      char c = value.charAt(i);
      if (c == '"' || c == '\\') {
        json.append('\\').append(c);
      } else if (c < ' ') {
        json.append("\\u%04x".formatted((int) c));
      } else {
        json.append(c);
      }
    }
    return json.append('"').toString();
  }
}
