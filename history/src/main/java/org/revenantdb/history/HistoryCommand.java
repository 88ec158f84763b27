package org.revenantdb.history;

import java.io.IOException;
import java.io.PrintStream;
import java.nio.charset.CharacterCodingException;
import java.nio.file.AccessDeniedException;
import java.nio.file.FileSystemException;
import java.nio.file.NoSuchFileException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;

/** The command: checks the histories in files. */
public final class HistoryCommand {

  /** Every level allows the histories that it was asked about. */
  static final int ALLOWED = 0;

  /** The level forbids a history. */
  static final int FORBIDDEN = 1;

  /** The arguments are wrong, or a file cannot be checked. */
  static final int REFUSED = 2;

  private static final String USAGE =
      """
      Usage: java -jar revenant-history.jar [--level LEVEL] [--order ORDER] FILE...

      Checks whether an isolation level allows the histories of transactions in files of Elle's
      form (EDN; operations :append, :w and :r), one history a file.

        --level   read-committed, snapshot or serializable (without it: serializable)
        --order   what orders transactions beside what they read and wrote (without it: real-time)
                    none       nothing
                    session    transactions of one process come in its order
                    real-time  and so do two of which one had ended before the other began

      Exit code: 0 the level allows all of them, 1 it forbids one, 2 wrong arguments, or a file
      that cannot be checked.
      """;

  private final PrintStream out;
  private final PrintStream err;
  private IsolationLevel level = IsolationLevel.SERIALIZABLE;
  private Precedence order = Precedence.REAL_TIME;
  private final List<String> files = new ArrayList<>();

  private HistoryCommand(PrintStream out, PrintStream err) {
    this.out = out;
    this.err = err;
  }

  /**
   * Runs the command and ends the JVM.
   *
   * @param arguments see {@code --help}
   */
  public static void main(String[] arguments) {
    int code = REFUSED;
    try {
      code = run(arguments, System.out, System.err);
      System.out.flush();
    } catch (Throwable e) { // the JVM's own exit code would be that of a forbidden history
      System.err.println("history: the command failed: " + e);
    }
    System.exit(code);
  }

  static int run(String[] arguments, PrintStream out, PrintStream err) {
    HistoryCommand command = new HistoryCommand(out, err);
    if (List.of(arguments).contains("--help") || List.of(arguments).contains("-h")) {
      out.print(USAGE);
      return ALLOWED;
    }
    try {
      command.read(arguments);
    } catch (IllegalArgumentException e) {
      err.println("history: " + e.getMessage());
      err.print(USAGE);
      return REFUSED;
    }
    return command.check();
  }

  private void read(String[] arguments) {
    for (int i = 0; i < arguments.length; i++) {
      String word = arguments[i];
      int is = word.startsWith("--") ? word.indexOf('=') : -1;
      String option = is < 0 ? word : word.substring(0, is);
      switch (option) {
        case "--level", "--order" -> {
          if (is < 0 && i + 1 == arguments.length) {
            throw new IllegalArgumentException(option + " needs a value.");
          }
          set(option, is < 0 ? arguments[++i] : word.substring(is + 1));
        }
        default -> {
          if (word.startsWith("-")) {
            throw new IllegalArgumentException("there is no option " + word + ".");
          }
          files.add(word);
        }
      }
    }
    if (files.isEmpty()) {
      throw new IllegalArgumentException("no file is given.");
    }
  }

  private void set(String option, String value) {
    try {
      String name = value.toUpperCase(Locale.ROOT).replace('-', '_');
      if (option.equals("--level")) {
        level = IsolationLevel.valueOf(name);
      } else {
        order = Precedence.valueOf(name);
      }
    } catch (IllegalArgumentException e) {
      throw new IllegalArgumentException(option + " has no value " + value + ".", e);
    }
  }

  private int check() {
    int code = ALLOWED;
    for (String file : files) {
      code = Math.max(code, check(file));
    }
    return code;
  }

  /** Whatever goes wrong, the exit code must not say that the level forbids the history. */
  private int check(String file) {
    try {
      History history = EdnReader.read(file, Path.of(file));
      try {
        return check(file, history);
      } catch (IllegalArgumentException e) {
        err.println("history: " + file + ": " + e.getMessage());
      }
    } catch (IOException e) {
      err.println("history: " + file + " cannot be read: " + reason(e));
    } catch (IllegalArgumentException e) {
      err.println("history: " + e.getMessage());
    } catch (OutOfMemoryError e) {
      err.println(
          "history: "
              + file
              + " does not fit into memory: start java with a larger -Xmx, or leave out the operations on some keys (a file of 2 GiB is never read)");
    } catch (Throwable e) {
      err.println("history: " + file + " cannot be checked, because the checker failed: " + e);
      e.printStackTrace(err);
    }
    return REFUSED;
  }

  private int check(String file, History history) {
    CheckResult result = HistoryChecker.check(history, level, order);
    String strongest =
        result.holds() ? "" : "\nThe strongest level that allows it: " + strongest(history) + "\n";
    out.println(file + ": " + history.size() + " transactions, " + result);
    out.print(strongest);
    return result.holds() ? ALLOWED : FORBIDDEN;
  }

  private static String reason(IOException failure) {
    return switch (failure) {
      case CharacterCodingException _ -> "it is not UTF-8: convert it, with iconv for example";
      case NoSuchFileException _ -> "there is no such file";
      case AccessDeniedException _ -> "access is denied";
      case FileSystemException named when named.getReason() != null -> named.getReason();
      default -> Objects.toString(failure.getMessage(), failure.toString());
    };
  }

  private String strongest(History history) {
    String strongest = "none of " + List.of(IsolationLevel.values());
    for (IsolationLevel weaker : IsolationLevel.values()) {
      if (weaker.compareTo(level) < 0 && HistoryChecker.check(history, weaker, order).holds()) {
        strongest = weaker.toString();
      }
    }
    return strongest;
  }
}
