package org.revenantdb.engine.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.ArchiveOptions;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.testing.Samples;

/** The verbs {@code restore}, {@code follow} and {@code prune}, as a user calls them. */
class ArchiveCommandsTest {
  @TempDir Path folder;

  private Path archive;
  private long middle;
  private long lastTransaction;

  private record Ran(int code, String out, String err) {}

  private static Ran run(Object... arguments) {
    StringWriter out = new StringWriter();
    StringWriter err = new StringWriter();
    String[] texts = Arrays.stream(arguments).map(Object::toString).toArray(String[]::new);
    int code = Main.run(new PrintWriter(out, true), new PrintWriter(err, true), texts);
    assertFalse(err.toString().contains("\tat "), "a stack trace: " + err);
    return new Ran(code, out.toString(), err.toString());
  }

  @BeforeEach
  void fill() {
    archive = folder.resolve("archive");
    ArchiveOptions quiet =
        ArchiveOptions.to(archive)
            .withInterval(Duration.ofHours(1))
            .withBaseEvery(ArchiveOptions.NEVER)
            .withListener(event -> {});
    try (Database db = Database.open(folder.resolve("db"), Samples.SMALL.withArchive(quiet))) {
      Samples.put(db, "t", "first", "1");
      db.archiveNow();
      middle = db.statistics().archive().shippedLsn();
      Samples.put(db, "t", "second", "2");
      try (Transaction tx = db.begin()) {
        tx.put(db.table("t"), Samples.bytes("third"), Samples.bytes("3"));
        lastTransaction = tx.id();
        tx.commit();
      }
      db.archiveNow();
    }
  }

  /** The keys that a restored database has. */
  private List<String> restored(Path target, Object... options) {
    Object[] arguments =
        Stream.concat(Stream.of("restore", archive, target), Stream.of(options)).toArray();
    Ran ran = run(arguments);
    assertEquals(Main.SOUND, ran.code, ran.err);
    assertTrue(ran.out.contains(target.toString()), ran.out);
    try (Database db = Samples.open(target)) {
      assertEquals(List.of(), db.check().problems());
      return Stream.of("first", "second", "third")
          .filter(key -> Samples.get(db, "t", key) != null)
          .toList();
    }
  }

  @Test
  void restore_makes_the_latest_moment_or_the_one_that_is_named() {
    assertEquals(List.of("first", "second", "third"), restored(folder.resolve("latest")));
    assertEquals(List.of("first"), restored(folder.resolve("lsn"), "--lsn", middle));
    assertEquals(
        List.of("first", "second"),
        restored(folder.resolve("before"), "--before-transaction", lastTransaction));
    assertEquals(
        List.of("first", "second", "third"),
        restored(folder.resolve("at"), "--at", "2126-01-01T00:00:00Z"));
  }

  @Test
  void restore_refuses_what_it_cannot_do_and_leaves_nothing() {
    Path target = folder.resolve("refused");
    for (List<Object> wrong :
        List.<List<Object>>of(
            List.of("--at", "yesterday"),
            List.of("--at", "1999-01-01T00:00:00Z"),
            List.of("--lsn", -1),
            List.of("--lsn", Long.MAX_VALUE),
            List.of("--lsn", middle, "--at", "2126-01-01T00:00:00Z"),
            List.of("--before-transaction", Long.MAX_VALUE))) {
      Ran ran = run(Stream.concat(Stream.of("restore", archive, target), wrong.stream()).toArray());
      assertEquals(Main.FAILED, ran.code, wrong + ran.out);
      assertFalse(ran.err.isEmpty(), wrong::toString);
      assertFalse(Files.exists(target), wrong::toString);
    }
    Ran ran = run("restore", folder.resolve("nothing"), target);
    assertEquals(Main.FAILED, ran.code);
    assertTrue(ran.err.contains("nothing"), ran.err);
    ran = run("restore", archive, folder.resolve("db"));
    assertEquals(Main.FAILED, ran.code);
    assertEquals(List.of("first", "second", "third"), restored(folder.resolve("still")));
  }

  @Test
  void prune_keeps_the_newest_base_and_refuses_wrong_numbers() throws IOException {
    Ran ran = run("prune", archive, "--moments", 0);
    assertEquals(Main.SOUND, ran.code, ran.err);
    assertTrue(ran.out.contains("bases deleted   0"), ran.out);
    assertEquals(List.of("first", "second", "third"), restored(folder.resolve("pruned")));
    assertEquals(Main.FAILED, run("prune", archive).code);
    assertEquals(Main.FAILED, run("prune", archive, "--moments", -1).code);
    Path nothing = folder.resolve("nothing");
    assertEquals(Main.FAILED, run("prune", nothing, "--moments", 1).code);
    assertFalse(Files.exists(nothing));
  }

  @Test
  void follow_makes_a_copy_that_goes_on_and_is_promoted() {
    Path copy = folder.resolve("copy");
    Ran ran = run("follow", archive, copy, "--once");
    assertEquals(Main.SOUND, ran.code, ran.err);
    assertTrue(ran.out.contains("position "), ran.out);
    ran = run("follow", archive, copy, "--once");
    assertEquals(Main.SOUND, ran.code, ran.err);
    ran = run("check", copy);
    assertEquals(Main.SOUND, ran.code, ran.err);
    ran = run("follow", archive, copy, "--promote");
    assertEquals(Main.SOUND, ran.code, ran.err);
    assertTrue(ran.out.contains("promoted " + copy), ran.out);
    try (Database db = Samples.open(copy)) {
      assertEquals("3", Samples.get(db, "t", "third"));
    }
    ran = run("follow", archive, copy, "--once");
    assertEquals(Main.FAILED, ran.code);
    assertTrue(ran.err.contains("no follower") || ran.err.contains("not a follower"), ran.err);
  }
}
