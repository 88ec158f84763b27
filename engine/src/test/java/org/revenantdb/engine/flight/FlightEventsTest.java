package org.revenantdb.engine.flight;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.revenantdb.engine.testing.Samples.bytes;

import java.io.InputStreamReader;
import java.io.Reader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import jdk.jfr.Configuration;
import jdk.jfr.Recording;
import jdk.jfr.consumer.RecordedEvent;
import jdk.jfr.consumer.RecordingFile;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.engine.ConflictException;
import org.revenantdb.engine.ConflictReason;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Durability;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;

/** What the flight recorder receives of a database that works with the template that is shipped. */
@Tag("slow") // the flight recorder takes its time to start
class FlightEventsTest {
  private static final Pattern EVENT = Pattern.compile("org\\.revenantdb\\.[\\w.]+");
  private static final int MIB = 1 << 20;
  private static final int ROWS = 4_000;

  @TempDir Path folder;

  private static Configuration template() throws Exception {
    try (Reader reader =
        new InputStreamReader(
            Database.class.getResourceAsStream("revenantdb.jfc"), StandardCharsets.UTF_8)) {
      return Configuration.create(reader);
    }
  }

  private List<RecordedEvent> dumped(Recording recording) throws Exception {
    Path file = folder.resolve("events.jfr");
    recording.dump(file);
    return RecordingFile.readAllEvents(file).stream()
        .filter(event -> event.getEventType().getName().startsWith("org.revenantdb."))
        .toList();
  }

  private static List<RecordedEvent> of(List<RecordedEvent> events, String name) {
    return events.stream().filter(event -> event.getEventType().getName().equals(name)).toList();
  }

  @Test
  void a_recording_with_the_template_has_each_kind_of_event() throws Exception {
    List<RecordedEvent> events;
    try (Recording recording = new Recording(template())) {
      recording.enable(CommitEvent.NAME).withThreshold(Duration.ZERO);
      recording.start();
      try (Database db =
          Database.open(
              folder.resolve("db"),
              DatabaseOptions.defaults()
                  .withDurability(Durability.LAZY)
                  .withVersionMemory(MIB)
                  .withPoolBytes(32L * MIB))) {
        Table table = db.getOrCreateTable("t");
        conflict(db, table);
        spill(db, table);
        try (Transaction tx = db.begin(TransactionOptions.defaults().withName("named"))) {
          tx.put(table, bytes("named"), bytes("1"));
          tx.commit();
        }
        db.checkpoint();
      }
      recording.stop();
      events = dumped(recording);
    }
    RecordedEvent conflict = of(events, ConflictEvent.NAME).getFirst();
    assertEquals(ConflictReason.ROW_IN_USE.name(), conflict.getString("reason"));
    assertTrue(conflict.getString("text").contains("table t"), conflict::toString);
    assertTrue(conflict.getLong("holder") > 0, conflict::toString);

    List<RecordedEvent> commits = of(events, CommitEvent.NAME);
    RecordedEvent named =
        commits.stream()
            .filter(event -> "named".equals(event.getString("name")))
            .findAny()
            .orElseThrow();
    assertEquals("LAZY", named.getString("durability"));
    assertTrue(named.getLong("transaction") > 0, named::toString);

    RecordedEvent checkpoint = of(events, CheckpointEvent.NAME).getLast();
    assertTrue(checkpoint.getDuration().isPositive(), checkpoint::toString);
    assertTrue(
        checkpoint.getLong("redoPoint") >= checkpoint.getLong("redoPointBefore"),
        checkpoint::toString);

    List<RecordedEvent> ofSplits = of(events, SplitEvent.NAME);
    assertTrue(ofSplits.size() > 1, ofSplits::toString);
    assertTrue(ofSplits.stream().anyMatch(event -> event.getBoolean("root")));
    assertTrue(ofSplits.stream().anyMatch(event -> !event.getBoolean("root")));

    RecordedEvent spill = of(events, SpillEvent.NAME).getFirst();
    assertTrue(spill.getLong("versions") > 0, spill::toString);

    assertFalse(of(events, CleanerPassEvent.NAME).isEmpty());
  }

  private static void conflict(Database db, Table table) {
    try (Transaction first = db.begin();
        Transaction second = db.begin()) {
      first.put(table, bytes("row"), bytes("1"));
      assertThrows(ConflictException.class, () -> second.put(table, bytes("row"), bytes("2")));
    }
  }

  /** Versions that a snapshot keeps, four times as many as there is memory for. */
  private static void spill(Database db, Table table) {
    Random random = new Random(1);
    update(db, table, random);
    try (Transaction snapshot = db.begin();
        Cursor rows = snapshot.scan(table, null, null)) {
      assertTrue(rows.next());
      update(db, table, random); // the row keeps the version that the snapshot sees
      update(db, table, random); // and now it is in memory
    }
  }

  private static void update(Database db, Table table, Random random) {
    byte[] value = new byte[1_000];
    for (int first = 0; first < ROWS; first += 100) {
      int batch = first;
      db.run(tx -> {
        for (int row = batch; row < batch + 100; row++) {
          random.nextBytes(value);
          tx.put(table, bytes("k" + row), value);
        }
      });
    }
  }

  @Test
  void an_event_that_is_off_is_not_recorded() throws Exception {
    try (Recording recording = new Recording(template())) {
      recording.disable(ConflictEvent.NAME);
      recording.disable(SplitEvent.NAME);
      recording.enable(CommitEvent.NAME).withThreshold(Duration.ofDays(1));
      recording.start();
      try (Database db = Database.open(folder.resolve("db"))) {
        conflict(db, db.getOrCreateTable("t"));
        db.run(tx -> tx.put(db.table("t"), bytes("a"), bytes("1")));
      }
      recording.stop();
      List<RecordedEvent> events = dumped(recording);
      assertEquals(List.of(), of(events, ConflictEvent.NAME));
      assertEquals(List.of(), of(events, CommitEvent.NAME));
      assertEquals(List.of(), of(events, SplitEvent.NAME));
    }
  }

  /** Of this module and of the latch. */
  @Test
  void the_template_and_the_guide_name_each_event() throws Exception {
    Set<String> declared = new TreeSet<>();
    for (Path module : List.of(Path.of("..", "engine"), Path.of("..", "latch"))) {
      try (Stream<Path> files = Files.walk(module.resolve("src/main/java"))) {
        for (Path file : files.filter(it -> it.toString().endsWith("Event.java")).toList()) {
          Matcher matcher =
              Pattern.compile("String NAME = \"(.*)\"").matcher(Files.readString(file));
          if (matcher.find()) {
            declared.add(matcher.group(1));
          }
        }
      }
    }
    assertEquals(9, declared.size());
    assertEquals(
        declared,
        template().getSettings().keySet().stream()
            .map(setting -> setting.substring(0, setting.indexOf('#')))
            .collect(Collectors.toCollection(TreeSet::new)));
    Set<String> documented = new TreeSet<>();
    Matcher matcher =
        EVENT.matcher(Files.readString(Path.of("..", "docs", "guide", "monitoring.md")));
    while (matcher.find()) {
      documented.add(matcher.group());
    }
    Set<String> missing = new TreeSet<>(declared);
    missing.removeAll(documented);
    assertEquals(Set.of(), missing);
  }
}
