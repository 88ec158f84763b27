package org.revenantdb.jmh.fork;

import java.util.List;
import java.util.stream.Stream;

/**
 * Flags for a forked JVM whose results are checked and whose speed is not: only the quick compiler,
 * and a fifth of a second of compiler work before a measurement. Under {@code -Plong} there are no
 * such flags: the fork runs as in a benchmark.
 */
public final class ShortForks {
  private static final List<String> FLAGS =
      Boolean.getBoolean("revenant.long")
          ? List.of()
          : List.of("-XX:TieredStopAtLevel=1", "-D" + Sessions.COMPILE_MILLIS + "=200");

  private ShortForks() {}

  /** Returns the flags that the fork always needs, followed by those of a short fork. */
  public static List<String> with(List<String> flags) {
    return Stream.concat(flags.stream(), FLAGS.stream()).toList();
  }
}
