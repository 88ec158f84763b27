package org.revenantdb.cli;

import com.google.gson.Gson;
import com.google.gson.GsonBuilder;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;

/** What all verbs have: a database, and output for people or for programs. */
abstract class Verb implements Callable<Integer> {
  /** All is well. */
  static final int FINE = 0;

  /** The verb has looked, and what it was asked for is not there. */
  static final int NOTHING = 1;

  private static final Gson GSON =
      new GsonBuilder().disableHtmlEscaping().serializeNulls().create();

  final Session session;

  @Parameters(index = "0", paramLabel = "DIR", description = "the directory of the database")
  Path directory = Path.of("");

  @Option(names = "--json", description = "prints JSON: one object a line")
  boolean json;

  Verb(Session session) {
    this.session = session;
  }

  /** Prints a line. */
  final void line(String text) {
    session.out().println(text);
  }

  /** Prints an object as JSON, in a line. */
  final void json(Object object) {
    session.out().println(GSON.toJson(object));
  }

  /** The notation of keys and values. */
  static final class Notations {
    @Option(
        names = {"-k", "--key-format"},
        paramLabel = "FORMAT",
        defaultValue = "AUTO",
        description = {
          "how keys are written: auto (text, or hexadecimal behind 0x), text, hex, or tuple",
          "(the keys of typed tables, as in '(\"Berlin\", 4711)'); default auto"
        })
    Notation key = Notation.AUTO;

    @Option(
        names = {"-v", "--value-format"},
        paramLabel = "FORMAT",
        defaultValue = "AUTO",
        description = "how values are written: auto, text, hex or tuple; default auto")
    Notation value = Notation.AUTO;

    byte @Nullable [] keyOrNull(@Nullable String text) {
      return text == null ? null : key.read(text);
    }
  }

  /** A range of keys. */
  static final class Range {
    @Option(names = "--from", paramLabel = "KEY", description = "the first key, inclusive")
    @Nullable String from;

    @Option(names = "--to", paramLabel = "KEY", description = "the last key, exclusive")
    @Nullable String to;

    @Option(
        names = "--prefix",
        paramLabel = "KEY",
        description = "only keys that begin with these bytes")
    @Nullable String prefix;

    byte @Nullable [] first(Notations notations) {
      demandOneKind();
      return notations.keyOrNull(prefix == null ? from : prefix);
    }

    byte @Nullable [] end(Notations notations) {
      String begun = prefix;
      return begun == null ? notations.keyOrNull(to) : behind(notations.key.read(begun));
    }

    private void demandOneKind() {
      if (prefix != null && (from != null || to != null)) {
        throw new NotationException("--prefix goes with neither --from nor --to");
      }
    }

    /** The first key behind all that begin with a prefix; null if there is none. */
    static byte @Nullable [] behind(byte[] prefix) {
      int length = prefix.length;
      while (length > 0 && prefix[length - 1] == (byte) 0xFF) {
        length--;
      }
      if (length == 0) {
        return null;
      }
      byte[] end = Arrays.copyOf(prefix, length);
      end[length - 1]++;
      return end;
    }
  }
}
