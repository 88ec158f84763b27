package org.revenantdb.jmh.fork;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;

/**
 * Values of one setting that a JVM measures in turn, for measurements that are short compared with
 * the start of a JVM and the compiler. Each round begins with another value.
 *
 * @param name of the setting; empty if none has several values
 * @param values in the order of the turns
 */
public record Sweep(String name, List<String> values) {
  /**
   * Reads them.
   *
   * @param text a name, {@code =}, and values with commas between them; empty: there is one turn,
   *     of nothing in particular
   * @param round which round it is, from 1
   * @return the turns of that round
   */
  public static Sweep of(String text, int round) {
    if (text.isEmpty()) {
      return new Sweep("", List.of(""));
    }
    int equals = text.indexOf('=');
    List<String> values = new ArrayList<>(Arrays.asList(text.substring(equals + 1).split(",")));
    Collections.rotate(values, 1 - round);
    return new Sweep(text.substring(0, equals), List.copyOf(values));
  }

  /**
   * Whether there is more than one way to go.
   *
   * @return false if there is one turn, of nothing in particular
   */
  public boolean isSweep() {
    return !name.isEmpty();
  }

  /**
   * The value that a setting has in a turn.
   *
   * @param setting its name
   * @param value of the turn
   * @param usual the value if another setting varies
   * @return the turn's value, or the usual one
   */
  public String value(String setting, String value, String usual) {
    return setting.equals(name) ? value : usual;
  }

  /**
   * The suffix of the names of results in a turn.
   *
   * @param value of the turn
   * @return a comma, the name and the value; nothing if nothing varies
   */
  public String suffix(String value) {
    return isSweep() ? "," + name + "=" + value : "";
  }
}
