package org.revenantdb.jmh.fork;

import java.util.List;
import java.util.stream.Stream;

/**
 * Flags for a forked JVM whose answers are checked and whose speed is not: the quick compiler
 * alone, and a fifth of a second of work for the compiler before a measurement. Under {@code
 * -Plong} there are no such flags: the fork runs as in a benchmark.
 */
public final class ShortForks {
  private static final List<String> FLAGS =
      Boolean.getBoolean("revenant.long")
          ? List.of()
          : List.of("-XX:TieredStopAtLevel=1", "-D" + Sessions.COMPILE_MILLIS + "=200");

  private ShortForks() {}

  /** Returns the flags that the fork needs in any case, and behind them those of a short fork. */
  public static List<String> with(List<String> flags) {
    return Stream.concat(flags.stream(), FLAGS.stream()).toList();
  }
}
