package org.revenantdb.chaos.examples;

import java.util.Locale;
import org.revenantdb.chaos.crash.Scratch;
import picocli.CommandLine;

/**
 * {@code ./revenant chaos --examples}.
 *
 * <p>Exit codes: 0 no false alarm, and every known finding of the stores that ran was found; 1
 * otherwise; 2 wrong usage.
 */
public final class Main {
  private Main() {}

  /**
   * Runs the command and ends the JVM with its exit code.
   *
   * @param arguments those behind {@code chaos --examples}
   */
  public static void main(String[] arguments) {
    Locale.setDefault(Locale.ROOT); // the same number format everywhere
    int code =
        new CommandLine(new ExamplesCommand())
            .setCaseInsensitiveEnumValuesAllowed(true)
            .execute(arguments);
    Scratch.keep();
    System.exit(code);
  }
}
