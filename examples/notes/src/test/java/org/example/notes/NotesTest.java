package org.example.notes;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.BufferedReader;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.io.StringReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.collections.Row;
import org.revenantdb.engine.BackupOptions;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.RevenantException;

class NotesTest {
  private final AtomicReference<Instant> now =
      new AtomicReference<>(Instant.parse("2026-11-01T00:00:00Z"));
  private Path folder;
  private Notes notes;

  @BeforeEach
  void open(@TempDir Path temporary) {
    folder = temporary;
    reopen();
  }

  private void reopen() {
    notes = new Notes(Database.open(folder.resolve("db")), now::get);
  }

  @AfterEach
  void close() {
    assertEquals(List.of(), notes.problems());
    notes.close();
  }

  private void pass(Duration time) {
    now.set(now.get().plus(time));
  }

  private static List<Long> keys(List<Row<Long, Note>> rows) {
    return rows.stream().map(Row::key).toList();
  }

  @Test
  void notes_are_found_by_tag_by_time_and_by_word() {
    long milk = notes.add("Milk", "two bottles", List.of("shop", "today"));
    pass(Duration.ofSeconds(1));
    long book = notes.add("A book", "about the MILKY way", List.of("shop"));
    pass(Duration.ofSeconds(1));
    long idea = notes.add("Idea", "ride to the sea", List.of());
    assertEquals(List.of(idea, book, milk), keys(notes.list(10)));
    assertEquals(List.of(milk, book), keys(notes.withTag("shop")));
    assertEquals(List.of(milk, book), keys(notes.search("milk")));
    assertEquals(List.of(book), keys(notes.search("Milk, ab")));
    assertEquals(List.of(), keys(notes.search("milk sea")));
    assertEquals(List.of(), keys(notes.search(" ? ")));
    assertTrue(notes.change(milk, it -> it.withPinned(true).withTags(List.of("later"))));
    assertTrue(notes.delete(idea));
    assertEquals(List.of(milk, book), keys(notes.list(10)));
    assertEquals(List.of(milk), keys(notes.list(1)));
    assertEquals(List.of(book), keys(notes.withTag("shop")));
    assertFalse(notes.delete(idea));
  }

  @Test
  void words_of_any_length_and_language_are_found() {
    String word = "\uD835\uDC00".repeat(60) + "x"; // letters of four bytes
    long id = notes.add("Überraschung", word, List.of("größe"));
    assertEquals(List.of(id), keys(notes.search("ÜBER " + word)));
    assertThrows(
        IllegalArgumentException.class, () -> notes.add("x", "", List.of("t".repeat(41))));
  }

  @Test
  void each_change_is_undone_also_after_a_restart() {
    long id = notes.add("Title", "first", List.of());
    notes.change(id, it -> it.withText("second"));
    notes.delete(id);
    assertNull(notes.get(id));
    notes.close();
    reopen();
    assertEquals(id, notes.undo());
    assertEquals("second", notes.get(id).text());
    assertEquals(id, notes.undo());
    assertEquals("first", notes.get(id).text());
    assertEquals(id, notes.undo());
    assertNull(notes.get(id));
    assertEquals(0, notes.undo());
  }

  @Test
  void what_is_typed_in_one_go_is_one_step() {
    long id = notes.add("Title", "", List.of());
    notes.type(id, "H");
    notes.type(id, "He");
    pass(Duration.ofMinutes(1));
    notes.type(id, "Hel");
    notes.type(id, "Hello");
    notes.undo();
    assertEquals("He", notes.get(id).text());
    notes.undo();
    assertEquals("", notes.get(id).text());
    assertFalse(notes.type(id + 1, "there is none"));
  }

  @Test
  void the_steps_are_bounded() {
    long id = notes.add("Title", "", List.of());
    for (int i = 1; i <= 150; i++) {
      String text = "" + i;
      notes.change(id, it -> it.withText(text));
    }
    int undone = 0;
    while (notes.undo() != 0) {
      undone++;
    }
    assertEquals(100, undone);
    assertEquals("50", notes.get(id).text());
  }

  @Test
  void a_backup_of_either_kind_is_made_while_notes_are_added() throws Exception {
    List<Long> before = new ArrayList<>();
    for (int i = 0; i < 50; i++) {
      before.add(notes.add("note " + i, "x".repeat(1_000), List.of("tag")));
    }
    notes.set("font", "12");
    for (String name : List.of("backup.notes", "backup")) {
      notes.backup(
          folder.resolve(name),
          progress -> {
            notes.add("meanwhile", "", List.of("tag"));
            return true;
          });
      Path restored = folder.resolve(name + "-restored");
      Backups.restore(folder.resolve(name), restored);
      try (Notes copy = Notes.open(restored)) {
        assertEquals(List.of(), copy.problems());
        assertTrue(keys(copy.withTag("tag")).containsAll(before));
        assertEquals("12", copy.setting("font", "none"));
        copy.undo();
      }
      assertThrows(
          Exception.class, () -> Backups.restore(folder.resolve(name), restored), "it is in use");
    }
  }

  @Test
  void a_backup_that_is_ended_leaves_the_former_one_or_none() throws Exception {
    notes.add("Title", "", List.of());
    BackupOptions ended = // a limit, or it could be whole before it is ended
        BackupOptions.defaults().withBytesPerSecond(1).withListener(_ -> false);
    Path file = folder.resolve("backup.notes");
    assertThrows(CancellationException.class, () -> notes.backup(file, ended));
    assertFalse(Files.exists(file));
    notes.backup(file, _ -> true);
    byte[] whole = Files.readAllBytes(file);
    notes.add("Another", "", List.of());
    assertThrows(CancellationException.class, () -> notes.backup(file, ended));
    assertArrayEquals(whole, Files.readAllBytes(file));
    Path directory = folder.resolve("backup");
    assertThrows(CancellationException.class, () -> notes.backup(directory, ended));
    assertThrows(Exception.class, () -> Backups.restore(directory, folder.resolve("other")));
  }

  @Test
  void a_part_of_a_backup_is_refused() throws Exception {
    notes.add("Title", "", List.of());
    Path file = folder.resolve("backup.notes");
    notes.backup(file, _ -> true);
    byte[] whole = Files.readAllBytes(file);
    Files.write(file, Arrays.copyOf(whole, whole.length / 2));
    assertThrows(
        RevenantException.class, () -> Backups.restore(file, folder.resolve("restored")));
  }

  @Test
  void a_second_start_is_refused_with_a_clear_message() {
    String message =
        assertThrows(NotesInUseException.class, () -> Notes.open(folder.resolve("db")))
            .getMessage();
    assertTrue(message.contains("open in another window"), message);
  }

  @Test
  void an_export_has_all_notes() throws Exception {
    notes.add("Milk", "two bottles", List.of("shop", "today"));
    pass(Duration.ofSeconds(1));
    notes.add("Idea", "ride", List.of());
    Path file = folder.resolve("notes.md");
    notes.export(file);
    assertEquals(
        "# Idea\n\nride\n\n# Milk\n\ntwo bottles\n\nTags: shop, today\n\n",
        Files.readString(file));
  }

  @Test
  void commands_do_the_same() throws Exception {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    String lines =
        "new Milk\ntext 1 two bottles\ntag 1 shop today\npin 1\nlist\nsearch bot\nshow 1\n"
            + "undo\nundo\ntagged shop\ndelete 7\npin x\nnew\nset font 12\nget font\nquit\nlist\n";
    new Shell(notes, new PrintStream(bytes, /* autoFlush= */ true, StandardCharsets.UTF_8))
        .run(new BufferedReader(new StringReader(lines)));
    assertEquals(
        List.of(
            "1",
            "1 * Milk [shop, today]",
            "1 * Milk [shop, today]",
            "Milk",
            "two bottles",
            "note 1 is as it was",
            "note 1 is as it was",
            "there is no such note",
            "\"x\" is not the number of a note",
            "a title has 1 to 200 characters, and this one has 0",
            "12"),
        bytes.toString(StandardCharsets.UTF_8).lines().toList());
  }
}
