package org.example.notes;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.revenantdb.chaos.junit.CrashTest;
import org.revenantdb.chaos.subject.CrashSubject;
import org.revenantdb.chaos.subject.Promises;
import org.revenantdb.chaos.subject.Recovered;
import org.revenantdb.collections.Row;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.RevenantException;

/**
 * After a power cut no note is lost that was saved, what was typed is there up to some moment, and
 * a backup that is there is whole.
 */
@CrashTest(states = 40)
class NotesCrashTest implements CrashSubject<NotesCrashTest.Window> {
  record Window(Path dir, Notes notes) implements AutoCloseable {
    @Override
    public void close() {
      notes.close();
    }
  }

  private static Notes notes(Path directory) {
    return new Notes(
        Database.open(
            directory,
            DatabaseOptions.defaults().withPoolBytes(4 << 20).withLogSegmentBytes(1 << 20)),
        () -> Instant.EPOCH);
  }

  @Override
  public Window open(Path dir) {
    return new Window(dir, notes(dir.resolve("db")));
  }

  @Override
  public void work(Window window, Promises promises) throws IOException {
    Notes notes = window.notes;
    for (int i = 0; i < 24; i++) {
      String title = promises.seed() + "/" + i;
      promises.attempt(title, "draft");
      long id = notes.add(title, "draft", List.of("tag"));
      promises.durable(title, "draft");
      for (String text : List.of("draft, and", "draft, and more")) {
        promises.attempt(title, text);
        notes.type(id, text);
        promises.lazy(title, text);
      }
      if (i % 6 == 5) {
        notes.save();
        promises.allDurable();
      }
      if (i % 8 == 7) { // the name says how many notes it has at least
        notes.backup(window.dir.resolve("backup-" + (i + 1) + Backups.ENDING), _ -> true);
      }
      if (i == 11) {
        Path directory = window.dir.resolve("backup-12-" + Math.abs(promises.seed()));
        notes.backup(directory, _ -> true);
      }
    }
  }

  @Override
  public void check(Window window, Recovered recovered) throws IOException {
    recovered.verifyAll(content(window.notes));
    recovered.demand(
        window.notes.problems().isEmpty(), "index and rows: " + window.notes.problems());
    List<Path> backups;
    try (Stream<Path> files = Files.list(window.dir)) {
      backups =
          files.filter(file -> file.getFileName().toString().startsWith("backup-")).toList();
    }
    for (Path backup : backups) {
      checkBackup(backup, window.dir.resolve("restored"), recovered);
    }
  }

  private static void checkBackup(Path backup, Path restored, Recovered recovered)
      throws IOException {
    String name = backup.getFileName().toString();
    if (name.endsWith(".part")) {
      return; // nobody takes it for a backup
    }
    try {
      Backups.restore(backup, restored);
    } catch (RevenantException refused) { // an unfinished directory is there, and is refused
      recovered.demand(!Backups.isFile(backup), name + " is not whole: " + refused);
      Backups.delete(restored);
      return;
    }
    try (Notes copy = notes(restored)) {
      Map<String, String> content = content(copy);
      recovered.demand(
          content.size() >= Integer.parseInt(name.replaceAll("backup-([0-9]+).*", "$1")),
          name + " has " + content.size() + " notes");
      recovered.demand(copy.problems().isEmpty(), name + ", index and rows: " + copy.problems());
    }
    Backups.delete(restored);
  }

  private static Map<String, String> content(Notes notes) {
    Map<String, String> content = new HashMap<>();
    for (Row<Long, Note> row : notes.list(Integer.MAX_VALUE)) {
      content.put(row.value().title(), row.value().text());
    }
    return content;
  }
}
