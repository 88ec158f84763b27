package org.revenantdb.jmh.baseline;

import static java.nio.charset.StandardCharsets.US_ASCII;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.io.InputStream;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledIfSystemProperty;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.revenantdb.engine.Cursor;
import org.revenantdb.engine.Database;
import org.revenantdb.engine.DatabaseOptions;
import org.revenantdb.engine.Table;
import org.revenantdb.engine.Transaction;
import org.revenantdb.engine.TransactionOptions;
import org.revenantdb.engine.page.LeafCell;
import org.revenantdb.engine.page.Page;
import org.revenantdb.engine.page.Slotted;
import org.revenantdb.jmh.fork.ShortForks;
import org.revenantdb.jmh.tpcc.TpccFork;

/**
 * The engines that ours is compared with are the described ones: without former versions in rows,
 * and with everything else. Each runs in a separate JVM.
 */
@EnabledIfSystemProperty(named = "revenant.long", matches = "true") // peers and baselines
class EngineOfWriterIdsTest {
  private static final TransactionOptions LAZY = TransactionOptions.lazy();

  /** An engine. */
  enum Variant {
    AS_IT_IS(null),
    WRITER_IDS(FormerVersions.class),
    OFF_ROW(OffRowVersions.class);

    private final @Nullable Class<? extends FormerVersions> kept;

    Variant(@Nullable Class<? extends FormerVersions> kept) {
      this.kept = kept;
    }

    boolean hasVersionsInRows() {
      return kept == null;
    }
  }

  @TempDir private Path folder;

  /** Updates, deletes and inserts, with readers; rolls back, then commits. */
  public static final class Rows {
    private static final Map<String, String> BEFORE =
        Map.of("stays", "a".repeat(40), "changes", "b".repeat(40), "goes", "c".repeat(40));
    private static final Map<String, String> AFTER =
        Map.of("stays", "a".repeat(40), "changes", "b".repeat(20) + "B".repeat(20), "comes", "new");

    /** Updates, after which a writer has checked several times which readers exist. */
    private static final int LATER = 100;

    private Rows() {}

    /** Arguments: directory, engine. */
    public static void main(String[] arguments) throws IOException {
      Path directory = Path.of(arguments[0]);
      try (Database database = Database.open(directory)) {
        Table table = database.getOrCreateTable("rows");
        database.run(
            LAZY,
            transaction ->
                BEFORE.forEach((key, value) -> transaction.put(table, bytes(key), bytes(value))));
        try (Transaction older = database.begin(LAZY)) {
          for (boolean commits : List.of(false, true)) {
            Transaction writer = database.begin(LAZY);
            write(writer, table);
            assertRows(AFTER, writer, table);
            assertRows(BEFORE, older, table);
            try (Transaction reader = database.begin(LAZY)) {
              assertRows(BEFORE, reader, table);
              if (commits) {
                writer.commit();
              } else {
                writer.rollback();
              }
              assertRows(BEFORE, reader, table);
            }
            try (Transaction reader = database.begin(LAZY)) {
              assertRows(commits ? AFTER : BEFORE, reader, table);
            }
          }
          for (int i = 0; i < LATER; i++) {
            String value = i < LATER - 1 ? "b" + i : Objects.requireNonNull(AFTER.get("changes"));
            database.run(
                LAZY, transaction -> transaction.put(table, bytes("changes"), bytes(value)));
          }
          assertRows(BEFORE, older, table); // it needs what many have left since
          database.checkpoint();
          assertCell(directory, Variant.valueOf(arguments[1]).hasVersionsInRows());
        }
      }
    }

    private static void write(Transaction writer, Table table) {
      writer.put(table, bytes("changes"), bytes("passing"));
      writer.put(table, bytes("changes"), bytes(Objects.requireNonNull(AFTER.get("changes"))));
      writer.delete(table, bytes("goes"));
      writer.put(table, bytes("comes"), bytes("new"));
    }

    private static void assertRows(Map<String, String> rows, Transaction reader, Table table) {
      Map<String, String> scanned = new TreeMap<>();
      try (Cursor cursor = reader.scan(table, null, null)) {
        while (cursor.next()) {
          scanned.put(text(cursor.key()), text(cursor.value()));
        }
      }
      assertEquals(new TreeMap<>(rows), scanned);
      for (String key : List.of("stays", "changes", "goes", "comes")) {
        byte[] value = reader.get(table, bytes(key));
        assertEquals(rows.get(key), value == null ? null : text(value));
      }
      assertEquals(rows.size(), reader.count(table, null, null));
    }

    private static void assertCell(Path directory, boolean hasVersion) throws IOException {
      MemorySegment file =
          MemorySegment.ofArray(Files.readAllBytes(directory.resolve("revenant.data")));
      List<Integer> versionBytes = new ArrayList<>();
      for (long at = 0; at + Page.SIZE <= file.byteSize(); at += Page.SIZE) {
        MemorySegment page = file.asSlice(at, Page.SIZE);
        for (int slot = 0; Page.type(page) == Page.LEAF && slot < Slotted.count(page); slot++) {
          if (Arrays.equals(Slotted.key(page, slot), bytes("changes"))) {
            int cell = Slotted.cell(page, slot);
            assertEquals(AFTER.get("changes"), text(LeafCell.value(page, cell)));
            assertEquals(hasVersion, LeafCell.is(page, cell, LeafCell.PREDECESSOR));
            versionBytes.add(LeafCell.versionBytes(page, cell));
          }
        }
      }
      assertEquals(1, versionBytes.size());
      assertEquals(hasVersion, versionBytes.getFirst() > 0);
    }

    private static byte[] bytes(String text) {
      return text.getBytes(US_ASCII);
    }

    private static String text(byte[] bytes) {
      return new String(bytes, US_ASCII);
    }
  }

  @ParameterizedTest
  @EnumSource
  void snapshots_and_rollbacks_find_former_versions_wherever_they_are(Variant variant)
      throws IOException, InterruptedException {
    assertEquals(0, run(variant, Rows.class, folder.resolve("rows").toString(), variant.name()));
  }

  /** Updates a row many times; its exit code is the number of freed pages of versions. */
  public static final class Updates {
    private static final int UPDATES = 5_000;
    private static final int MORE = 64;

    private Updates() {}

    /** Argument: directory. */
    public static void main(String[] arguments) {
      long freed;
      try (Database database = Database.open(Path.of(arguments[0]), DatabaseOptions.defaults())) {
        Table table = database.getOrCreateTable("rows");
        byte[] value = new byte[200];
        update(database, table, value, UPDATES);
        database.sync();
        update(database, table, value, MORE); // its end checks whether pages can be freed
        database.cleanNow();
        freed = database.statistics().files().overflowPagesFreed();
      }
      System.exit((int) Math.min(freed, 100));
    }

    private static void update(Database database, Table table, byte[] value, int times) {
      for (int i = 0; i < times; i++) {
        value[i % value.length]++;
        database.run(LAZY, transaction -> transaction.put(table, new byte[8], value));
      }
    }
  }

  @ParameterizedTest
  @EnumSource
  void pages_of_versions_off_their_rows_are_given_back_behind_the_transactions(Variant variant)
      throws IOException, InterruptedException {
    int freed = run(variant, Updates.class, folder.resolve("updates").toString());
    assertEquals(variant == Variant.OFF_ROW ? 100 : 0, freed);
  }

  @ParameterizedTest
  @EnumSource
  @Tag("slow")
  void tpcc_is_consistent(Variant variant) throws IOException, InterruptedException {
    assertEquals(
        0,
        run(variant, TpccFork.class, folder.toString(), "2", "0.01", "2", "0", "500", "1", "lazy"));
  }

  @Test
  void an_engine_of_another_shape_is_refused() throws IOException {
    assertTrue(EngineOfWriterIds.revert().apply(bytesOf("RowRevert")).length > 0);
    IllegalStateException refusal =
        assertThrows(
            IllegalStateException.class,
            () -> EngineOfWriterIds.revert().apply(bytesOf("RowReader")));
    assertTrue(
        Objects.requireNonNull(refusal.getMessage()).contains("0 places 'call of remove'"),
        refusal.getMessage());
    assertThrows(
        IllegalStateException.class, () -> EngineOfWriterIds.insert().apply(bytesOf("RowWriter")));
    assertThrows(
        IllegalStateException.class, () -> EngineOfWriterIds.reader().apply(bytesOf("RowWriter")));
    assertThrows(
        IllegalStateException.class,
        () ->
            EngineOfWriterIds.writer(FormerVersions.class.describeConstable().orElseThrow())
                .apply(bytesOf("RowReader")));
    assertFalse(Files.exists(folder.resolve("org")));
  }

  private static byte[] bytesOf(String simpleName) throws IOException {
    String resource = "org/revenantdb/engine/version/" + simpleName + ".class";
    try (InputStream original = Database.class.getClassLoader().getResourceAsStream(resource)) {
      return Objects.requireNonNull(original, resource).readAllBytes();
    }
  }

  private int run(Variant variant, Class<?> main, String... arguments)
      throws IOException, InterruptedException {
    String classPath = System.getProperty("java.class.path");
    if (variant.kept != null) {
      Path classes = folder.resolve("classes");
      EngineOfWriterIds.write(classes, variant.kept);
      classPath = classes + File.pathSeparator + classPath;
    }
    List<String> command = new ArrayList<>();
    command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
    command.addAll(ShortForks.with(List.of()));
    command.addAll(List.of("-cp", classPath, main.getName()));
    command.addAll(List.of(arguments));
    return new ProcessBuilder(command).inheritIO().start().waitFor();
  }
}
