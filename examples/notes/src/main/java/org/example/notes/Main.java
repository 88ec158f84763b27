package org.example.notes;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.Charset;
import java.nio.file.Path;
import org.revenantdb.engine.RevenantException;

/**
 * {@code Main DIRECTORY} reads commands; {@code Main DIRECTORY restore BACKUP} makes the notes of a
 * backup.
 */
public final class Main {
  private Main() {}

  public static void main(String[] arguments) {
    try {
      Path directory = Path.of(arguments.length > 0 ? arguments[0] : "notes.db");
      if (arguments.length == 3 && arguments[1].equals("restore")) {
        Backups.restore(Path.of(arguments[2]), directory);
        return;
      }
      try (Notes notes = Notes.open(directory)) {
        new Shell(notes, System.out)
            .run(new BufferedReader(new InputStreamReader(System.in, Charset.defaultCharset())));
      }
    } catch (NotesInUseException | RevenantException | IOException failure) {
      System.err.println(failure.getMessage());
      System.exit(1);
    }
  }
}
