package org.revenantdb.cli;

import java.io.PrintWriter;
import java.io.StringWriter;
import java.util.Arrays;

/** Runs a verb as a user at a shell does. */
record Shellout(int code, String out, String err) {
  static Shellout run(Object... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    String[] texts = Arrays.stream(arguments).map(Object::toString).toArray(String[]::new);
    int code = Main.run(new PrintWriter(out, true), new PrintWriter(err, true), texts);
    if (err.toString().contains("\tat ")) {
      throw new AssertionError("a stack trace: " + err);
    }
    return new Shellout(code, out.toString(), err.toString());
  }
}
