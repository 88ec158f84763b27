package org.revenantdb.chaos.agent;

import static java.nio.charset.StandardCharsets.UTF_8;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Collectors;

/** The native methods of {@code java.base} that concern files, on one platform. */
public final class NativeCalls {

  private static final String TABLE = "natives.txt";

  private final List<Line> lines;

  /** A table of some methods. */
  NativeCalls(List<Line> lines) {
    this.lines = List.copyOf(lines);
  }

  /**
   * A native method.
   *
   * @param type its class, with slashes
   * @param method its name
   * @param meaning what it does
   * @param required whether it must exist and be called
   */
  public record Line(String type, String method, FileCall meaning, boolean required) {

    @Override
    public String toString() {
      return type.replace('/', '.') + "." + method;
    }
  }

  /**
   * Reads the table of an operating system.
   *
   * @param os its name, as in the system property {@code os.name}
   * @return the methods; an unknown system counts as a Unix, of which classes will be missing
   * @throws IOException if the table cannot be read
   */
  public static NativeCalls of(String os) throws IOException {
    Set<String> platforms = platforms(os.toLowerCase(Locale.ROOT));
    List<Line> lines = new ArrayList<>();
    try (InputStream in = NativeCalls.class.getResourceAsStream(TABLE)) {
      if (in == null) {
        throw new IOException("the table of native methods is missing: " + TABLE);
      }
      BufferedReader reader = new BufferedReader(new InputStreamReader(in, UTF_8));
      for (String text; (text = reader.readLine()) != null; ) {
        String[] words = text.strip().split("\\s+", -1);
        if (words.length == 4 && platforms.contains(words[0])) {
          lines.add(line(words));
        }
      }
    }
    return new NativeCalls(lines);
  }

  private static Line line(String[] words) {
    boolean optional = words[3].endsWith("?");
    String meaning = optional ? words[3].substring(0, words[3].length() - 1) : words[3];
    boolean nothing = meaning.equals("-");
    return new Line(
        words[1].replace('.', '/'),
        words[2],
        nothing ? FileCall.NOTHING : FileCall.valueOf(meaning),
        !optional && !nothing);
  }

  private static Set<String> platforms(String os) {
    if (os.startsWith("windows")) {
      return Set.of("all", "windows");
    }
    return os.startsWith("mac") ? Set.of("all", "unix", "macos") : Set.of("all", "unix", "linux");
  }

  /**
   * Returns all methods; the number of one is its index.
   *
   * @return lines of the table
   */
  public List<Line> lines() {
    return lines;
  }

  /** The classes whose native methods are all in the table. */
  Set<String> types() {
    return lines.stream().map(Line::type).collect(Collectors.toSet());
  }
}
