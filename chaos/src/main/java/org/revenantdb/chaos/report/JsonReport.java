package org.revenantdb.chaos.report;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;

/**
 * Figures as JSON: each at the top level is a number, followed by the details behind it.
 *
 * <p>Threads: one.
 */
public final class JsonReport {

  private final Map<String, Object> fields = new LinkedHashMap<>();

  /** Creates an empty report. */
  public JsonReport() {}

  /**
   * Sets a figure.
   *
   * @param name of the field
   * @param value a finite number
   * @return this
   */
  public JsonReport number(String name, double value) {
    if (!Double.isFinite(value)) {
      throw new IllegalArgumentException(name + " is not a number that JSON knows: " + value);
    }
    fields.put(name, value);
    return this;
  }

  /**
   * Sets a figure.
   *
   * @param name of the field
   * @param value a number
   * @return this
   */
  public JsonReport number(String name, long value) {
    fields.put(name, value);
    return this;
  }

  /**
   * Sets a figure that is yes or no.
   *
   * @param name of the field
   * @param value written as 1 or 0
   * @return this
   */
  public JsonReport yesNo(String name, boolean value) {
    return number(name, value ? 1L : 0L);
  }

  /**
   * Sets a field that is not a figure: text, a list, or a map of these.
   *
   * @param name of the field
   * @param value its content
   * @return this
   */
  public JsonReport detail(String name, Object value) {
    fields.put(name, value);
    return this;
  }

  /**
   * Adds machine, JDK and commit of the source.
   *
   * @return this
   */
  public JsonReport surroundings() {
    Properties system = System.getProperties();
    Map<String, Object> machine = new LinkedHashMap<>();
    machine.put("os", system.getProperty("os.name") + " " + system.getProperty("os.version"));
    machine.put("arch", system.getProperty("os.arch"));
    machine.put("processors", Runtime.getRuntime().availableProcessors());
    detail("machine", machine);
    detail("commit", commit());
    return detail("jdk", jdk());
  }

  static String jdk() {
    return System.getProperty("java.vendor.version") + " " + Runtime.version();
  }

  static String commit() {
    String home = System.getenv().getOrDefault("REVENANT_HOME", ".");
    try {
      Process git =
          new ProcessBuilder("git", "-C", home, "describe", "--always", "--abbrev=40", "--dirty")
              .redirectError(ProcessBuilder.Redirect.DISCARD)
              .start();
      String text = new String(git.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
      return git.waitFor() == 0 ? text.strip() : "unknown";
    } catch (IOException e) {
      return "unknown";
    } catch (InterruptedException e) {
      Thread.currentThread().interrupt();
      return "unknown";
    }
  }

  /**
   * Writes the file in one step: a reader sees the old one or the new one.
   *
   * @param file the file
   * @throws IOException if writing fails
   */
  public void writeTo(Path file) throws IOException {
    WholeFile.write(file, this + "\n");
  }

  @Override
  public String toString() {
    StringBuilder out = new StringBuilder();
    append(out, fields, "");
    return out.toString();
  }

  private static void append(StringBuilder out, Object value, String indent) {
    switch (value) {
      case Map<?, ?> map -> appendMap(out, map, indent);
      case List<?> list -> appendList(out, list, indent);
      case Number number -> out.append(number);
      case Boolean truth -> out.append(truth);
      default -> appendText(out, value.toString());
    }
  }

  private static void appendMap(StringBuilder out, Map<?, ?> map, String indent) {
    String inner = indent + "  ";
    if (map.isEmpty()) {
      out.append("{}");
      return;
    }
    String separator = "{\n";
    for (Map.Entry<?, ?> entry : map.entrySet()) {
      out.append(separator).append(inner);
      appendText(out, String.valueOf(entry.getKey()));
      out.append(": ");
      append(out, entry.getValue(), inner);
      separator = ",\n";
    }
    out.append('\n').append(indent).append('}');
  }

  private static void appendList(StringBuilder out, List<?> list, String indent) {
    String separator = "[";
    for (Object element : list) {
      out.append(separator);
      append(out, element, indent);
      separator = ", ";
    }
    out.append(list.isEmpty() ? "[]" : "]");
  }

  private static void appendText(StringBuilder out, String text) {
    out.append('"');
    for (int i = 0; i < text.length(); i++) {
      char c = text.charAt(i);
      switch (c) {
        case '"' -> out.append("\\\"");
        case '\\' -> out.append("\\\\");
        case '\n' -> out.append("\\n");
        case '\r' -> out.append("\\r");
        case '\t' -> out.append("\\t");
        default -> {
          // An unpaired surrogate cannot be written as UTF-8; found keys are arbitrary text.
          if (c < 0x20 || Character.isSurrogate(c)) {
            out.append(String.format("\\u%04x", (int) c));
          } else {
            out.append(c);
          }
        }
      }
    }
    out.append('"');
  }
}
