package org.example.notes;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.PrintStream;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CancellationException;
import org.revenantdb.collections.Row;
import org.revenantdb.engine.RevenantException;

/** Commands in place of a window, one a line. */
final class Shell {
  private static final String HELP =
      """
      new TITLE            adds a note, and shows its number
      text NUMBER TEXT     replaces the text
      tag NUMBER TAG..     replaces the tags
      pin NUMBER           puts a note to the top; unpin NUMBER
      delete NUMBER
      undo                 takes the last change back
      list                 pinned notes, then those that were changed last
      show NUMBER
      tagged TAG
      search WORD..        notes with words that begin so
      set NAME VALUE       stores a setting; get NAME
      export FILE          all notes as Markdown
      backup TARGET        a full copy: a file if the name ends with .notes, or a directory
      quit""";

  private final Notes notes;
  private final PrintStream out;

  Shell(Notes notes, PrintStream out) {
    this.notes = notes;
    this.out = out;
  }

  void run(BufferedReader lines) throws IOException {
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      if (line.strip().equals("quit")) {
        return;
      }
      try {
        run(line.strip());
      } catch (IllegalArgumentException | IOException | RevenantException refused) {
        out.println(refused.getMessage());
      } catch (CancellationException ended) {
        out.println("There is no backup: it was ended.");
      }
    }
  }

  private void run(String line) throws IOException {
    String[] parts = line.split("\\s+", 2);
    String rest = parts.length > 1 ? parts[1] : "";
    switch (parts[0]) {
      case "" -> {}
      case "new" -> out.println(notes.add(rest, "", List.of()));
      case "text" -> done(notes.type(number(rest), behindNumber(rest)));
      case "tag" ->
          done(notes.change(number(rest), it -> it.withTags(words(behindNumber(rest)))));
      case "pin" -> done(notes.change(number(rest), it -> it.withPinned(true)));
      case "unpin" -> done(notes.change(number(rest), it -> it.withPinned(false)));
      case "delete" -> done(notes.delete(number(rest)));
      case "undo" -> {
        long note = notes.undo();
        out.println(note == 0 ? "there is nothing to undo" : "note " + note + " is as it was");
      }
      case "list" -> print(notes.list(20));
      case "show" -> {
        Note note = notes.get(number(rest));
        out.println(note == null ? "there is no such note" : note.title() + "\n" + note.text());
      }
      case "tagged" -> print(notes.withTag(rest));
      case "search" -> print(notes.search(rest));
      case "set" -> {
        String[] setting = rest.split("\\s+", 2);
        notes.set(setting[0], setting.length > 1 ? setting[1] : "");
      }
      case "get" -> out.println(notes.setting(rest, "not set"));
      case "export" -> notes.export(Path.of(rest));
      case "backup" -> {
        notes.backup(Path.of(rest), progress -> !Thread.currentThread().isInterrupted());
        out.println("backup " + rest + " is whole");
      }
      default -> out.println(HELP);
    }
  }

  private static long number(String rest) {
    String text = rest.split("\\s+", 2)[0];
    try {
      return Long.parseLong(text);
    } catch (NumberFormatException refused) {
      throw new IllegalArgumentException("\"" + text + "\" is not the number of a note", refused);
    }
  }

  private static String behindNumber(String rest) {
    String[] parts = rest.split("\\s+", 2);
    return parts.length > 1 ? parts[1] : "";
  }

  private static List<String> words(String text) {
    return text.isBlank() ? List.of() : List.of(text.split("\\s+"));
  }

  private void done(boolean isDone) {
    if (!isDone) {
      out.println("there is no such note");
    }
  }

  private void print(List<Row<Long, Note>> rows) {
    for (Row<Long, Note> row : rows) {
      Note note = row.value();
      out.println(
          row.key() + (note.pinned() ? " * " : "   ") + note.title() + " " + note.tags());
    }
  }
}
