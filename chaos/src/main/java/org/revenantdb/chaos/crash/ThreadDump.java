package org.revenantdb.chaos.crash;

import java.util.List;
import java.util.stream.Collectors;

/**
 * The stacks of all threads that a JVM wrote to its standard error on request, and the text around
 * them.
 *
 * @param text the dump; empty if there is none
 * @param around everything else
 * @param mainStack the stack of the main thread in the form of a Java stack trace, down to the
 *     framework; empty if it is not in the dump
 */
record ThreadDump(String text, String around, String mainStack) {

  /** Part of the last line of a dump, above the heap. */
  static final String END = "JNI global refs";

  private static final String BEGIN = "Full thread dump";
  private static final String MAIN = "\"main\" ";
  private static final String FRAME = "at ";
  private static final List<String> OURS =
      List.of(FRAME + Life.class.getName(), FRAME + "org.revenantdb.chaos.run.StateChecker");

  /** Finds the first dump in a text. */
  static ThreadDump in(String stderr) {
    List<String> lines = stderr.lines().toList();
    int begin = 0;
    while (begin < lines.size() && !lines.get(begin).startsWith(BEGIN)) {
      begin++;
    }
    if (begin == lines.size()) {
      return new ThreadDump("", stderr, "");
    }
    // The line before the dump is its time.
    List<String> before = lines.subList(0, Math.max(0, begin - 1));
    List<String> dump = lines.subList(begin, lines.size());
    return new ThreadDump(String.join("\n", dump), String.join("\n", before), mainStack(dump));
  }

  private static String mainStack(List<String> dump) {
    return dump.stream()
        .dropWhile(line -> !line.startsWith(MAIN))
        .skip(1)
        .takeWhile(line -> !line.isBlank() && OURS.stream().noneMatch(line::contains))
        .map(String::strip)
        .filter(line -> line.startsWith(FRAME))
        .map(line -> "    " + line)
        .collect(Collectors.joining("\n"));
  }
}
