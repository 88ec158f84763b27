package org.revenantdb.chaos.run;

import java.io.PrintWriter;
import java.io.StringWriter;

/** Stack traces as text. */
final class Stacks {

  private Stacks() {}

  static String text(Throwable failure) {
    StringWriter out = new StringWriter();
    failure.printStackTrace(new PrintWriter(out));
    return out.toString().strip();
  }
}
