package org.revenantdb.suite.fuzz;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.revenantdb.recovery.format.PageHeaderLayout;

class VariantDrawTest {

  private static final int DRAWS = 3_000;
  private static final int VARIANTS = Boolean.getBoolean("revenant.long") ? DRAWS : 800;
  private static final int PAGE = PageHeaderLayout.PAGE_SIZE;

  private static Family family = new Family(List.of());

  @BeforeAll
  static void populate() {
    family = Population.make(Population.Kind.EVERYTHING, 7);
  }

  private static VariantDraw draw() {
    return new VariantDraw(family, 7, 0);
  }

  @Test
  void the_same_seed_and_number_give_the_same_variant() {
    VariantDraw forwards = draw();
    List<String> texts = new java.util.ArrayList<>();
    for (int i = 0; i < 300; i++) {
      texts.add(forwards.draw(i).text());
    }
    VariantDraw backwards = draw();
    for (int i = 299; i >= 0; i--) {
      assertEquals(texts.get(i), backwards.draw(i).text());
    }
  }

  @Test
  void a_variant_is_the_same_after_it_was_written_and_read() {
    VariantDraw draw = draw();
    for (int i = 0; i < VARIANTS; i++) {
      Variant variant = draw.draw(i);
      Variant read = Variant.parse(variant.text());
      assertEquals(variant, read);
      assertEquals(variant.make(family).image().hash(), read.make(family).image().hash());
    }
  }

  @Test
  void every_kind_of_damage_is_drawn() {
    Set<String> kinds = new TreeSet<>();
    VariantDraw draw = draw();
    for (int i = 0; i < DRAWS; i++) {
      kinds.add(draw.draw(i).kind());
    }
    assertEquals(
        new TreeSet<>(
            List.of(
                "flip",
                "run",
                "swap",
                "torn",
                "length",
                "missing",
                "renamed",
                "doubled",
                "stray",
                "kind",
                "moments",
                "moments.page",
                "field.map",
                "field.gam",
                "field.leaf",
                "field.head",
                "field.data",
                "field.shared",
                "field.catalogue",
                "field.control",
                "field.header",
                "field.doublewrite",
                "field.record",
                "field.segment")),
        withoutRare(kinds));
  }

  /** Whether these pages exist depends on how the database was filled. */
  private static Set<String> withoutRare(Set<String> kinds) {
    kinds.removeAll(Set.of("field.inner", "field.index", "field.iam", "field.image", "field.page"));
    return kinds;
  }

  @Test
  void a_drawn_variant_changes_something_nearly_always() {
    VariantDraw draw = draw();
    int same = 0;
    for (int i = 0; i < VARIANTS; i++) {
      Variant variant = draw.draw(i);
      long before = family.moments().get(variant.moment()).image().hash();
      DamagedDisk damaged = variant.make(family);
      same += damaged.image().hash() == before && damaged.specials().isEmpty() ? 1 : 0;
    }
    assertTrue(same < VARIANTS / 8, () -> "too many variants are no damage at all");
  }

  @Test
  void the_sound_database_is_not_changed_by_its_variants() {
    List<Long> before = family.moments().stream().map(moment -> moment.image().hash()).toList();
    VariantDraw draw = draw();
    for (int i = 0; i < VARIANTS; i++) {
      draw.draw(i).make(family);
    }
    assertEquals(before, family.moments().stream().map(moment -> moment.image().hash()).toList());
  }

  @Test
  void a_changed_field_has_a_correct_checksum_again() {
    VariantDraw draw = draw();
    int seen = 0;
    for (int i = 0; i < VARIANTS; i++) {
      Variant variant = draw.draw(i);
      DamagedDisk damaged = variant.make(family);
      for (Damage step : variant.steps()) {
        if (step.verb().equals("sealpage")) {
          int page = Integer.parseInt(step.words().get(2));
          byte[] bytes = damaged.bytes(step.file(), (long) page * PAGE, PAGE);
          assertEquals(DamagedDisk.little(bytes).getInt(0), DamagedDisk.crc(bytes, 4, PAGE));
          seen++;
        } else if (step.verb().equals("record")) {
          assertTrue(variant.isForged(family));
          seen++;
        }
      }
    }
    assertTrue(seen > VARIANTS / 4);
  }

  @Test
  void a_changed_record_is_valid_and_only_it_differs() {
    Moment moment = family.moments().getFirst();
    DiskMap map = new DiskMap(moment);
    DiskMap.LogRecord record = map.records().get(map.records().size() / 2);
    DamagedDisk damaged =
        new Variant(
                7,
                0,
                0,
                "field.record",
                Damage.parse(
                    "record %s %d 24 0102030405060708".formatted(record.file(), record.offset())))
            .make(family);
    DiskMap after =
        new DiskMap(new Moment("", /* closed= */ false, damaged.image(), moment.states()));
    assertEquals(map.records().size(), after.records().size());
    int at = map.records().indexOf(record);
    for (int i = 0; i < map.records().size(); i++) {
      long before = DamagedDisk.little(map.records().get(i).bytes()).getLong(24);
      long now = DamagedDisk.little(after.records().get(i).bytes()).getLong(24);
      if (i == at) {
        assertEquals(0x0807060504030201L, now);
        assertNotEquals(before, now);
      } else {
        assertEquals(before, now);
      }
    }
  }

  @Test
  void a_family_is_the_same_after_it_was_read_back(@TempDir Path dir) throws Exception {
    Path file = dir.resolve("family");
    FamilyFile.write(family, file);
    Family read = FamilyFile.read(file);
    assertEquals(family.moments().size(), read.moments().size());
    for (int i = 0; i < read.moments().size(); i++) {
      Moment before = family.moments().get(i);
      Moment now = read.moments().get(i);
      assertEquals(before.image().hash(), now.image().hash(), before.name());
      assertEquals(before.states(), now.states());
      assertEquals(before.closed(), now.closed());
    }
  }

  @Test
  void the_databases_contain_everything_in_the_format() {
    Set<Integer> types = new TreeSet<>();
    Set<Integer> records = new TreeSet<>();
    Set<String> files = new TreeSet<>();
    for (Population.Kind kind : Population.Kind.values()) {
      for (Moment moment : Population.make(kind, 11).moments()) {
        DiskMap map = new DiskMap(moment);
        types.addAll(map.pages().keySet());
        map.records().forEach(record -> records.add(record.type()));
        files.addAll(map.disk().files());
        assertFalse(moment.states().isEmpty());
      }
    }
    assertTrue(types.containsAll(List.of(2, 3, 4, 5, 6, 7, 8, 9, 10)), () -> "page types " + types);
    assertTrue(
        records.containsAll(List.of(1, 2, 3, 4, 5, 7, 8, 9)), () -> "record types " + records);
    assertTrue(files.stream().anyMatch(file -> file.startsWith("versions-")), () -> "" + files);
    assertTrue(files.stream().anyMatch(file -> file.startsWith("savepoints-")), () -> "" + files);
  }
}
