package org.revenantdb.suite.fuzz;

import java.util.ArrayList;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.revenantdb.chaos.crash.Seeds;
import org.revenantdb.chaos.disk.FileContent;
import org.revenantdb.recovery.format.LogRecordLayout;
import org.revenantdb.recovery.format.PageHeaderLayout;
import org.revenantdb.recovery.format.SegmentLayout;

/**
 * Draws variants of one family: the same seed and number give the same variant.
 *
 * <p>Threads: one.
 */
final class VariantDraw {

  private static final int PAGE = PageHeaderLayout.PAGE_SIZE;
  private static final int SECTOR = 512;
  private static final String DATA = DiskMap.DATA;
  private static final String DOUBLE_WRITE = DiskMap.DOUBLE_WRITE;

  /** Kinds of files that a disk in memory cannot have. */
  private static final List<String> SPECIALS =
      List.of("fifo", "socket", "self", "dangling", "zero", "null", "link");

  private final Family family;
  private final long seed;
  private final int number;
  private final Map<Integer, DiskMap> maps = new TreeMap<>();

  VariantDraw(Family family, long seed, int number) {
    this.family = family;
    this.seed = seed;
    this.number = number;
  }

  /** Returns the variant with a number. */
  Variant draw(long index) {
    SplittableRandom random = new SplittableRandom(Seeds.of(seed, index));
    while (true) {
      int moment = random.nextInt(family.moments().size());
      DiskMap map = maps.computeIfAbsent(moment, any -> new DiskMap(family.moments().get(moment)));
      Draw draw = new Draw(random, map, moment);
      String kind = draw.choose();
      if (!draw.steps.isEmpty()) {
        return new Variant(seed, number, moment, kind, List.copyOf(draw.steps));
      }
    }
  }

  /** One variant under construction. */
  private final class Draw {

    private final SplittableRandom random;
    private final DiskMap map;
    private final int moment;
    private final List<Damage> steps = new ArrayList<>();

    Draw(SplittableRandom random, DiskMap map, int moment) {
      this.random = random;
      this.map = map;
      this.moment = moment;
    }

    private void step(Object... words) {
      steps.add(Damage.of(words));
    }

    private <T> T one(List<T> of) {
      return of.get(random.nextInt(of.size()));
    }

    /**
     * Chooses a kind of damage and returns its name; adds no step if there is nothing to damage.
     */
    String choose() {
      int choice = random.nextInt(1000);
      if (choice < 90) {
        return flip();
      } else if (choice < 150) {
        return run();
      } else if (choice < 190) {
        return swap();
      } else if (choice < 260) {
        return torn();
      } else if (choice < 310) {
        return length();
      } else if (choice < 380) {
        return names();
      } else if (choice < 390) {
        return wrongKind();
      } else if (choice < 440) {
        return moments();
      } else if (choice < 720) {
        return page();
      } else if (choice < 780) {
        return catalogue();
      } else if (choice < 820) {
        return control();
      } else if (choice < 840) {
        return header();
      } else if (choice < 880) {
        return doubleWrite();
      } else if (choice < 960) {
        return record();
      }
      return segment();
    }

    // ---- places ----

    private String anyFile() {
      List<String> files =
          map.disk().files().stream().filter(file -> !file.endsWith(".lock")).toList();
      return random.nextInt(3) == 0 ? DATA : one(files);
    }

    /** Mostly a place with content, because most of a preallocated file is empty. */
    private long placeIn(String file) {
      FileContent content = map.disk().file(file);
      long size = content == null ? 0 : content.size();
      if (size == 0) {
        return 0;
      }
      if (file.endsWith(".log") && random.nextInt(6) > 0) {
        if (random.nextInt(6) == 0) {
          return random.nextInt(SegmentLayout.CHECKED);
        }
        List<DiskMap.LogRecord> here =
            map.records().stream().filter(record -> record.file().equals(file)).toList();
        if (!here.isEmpty()) {
          DiskMap.LogRecord record = one(here);
          return Math.min(size - 1, record.offset() + random.nextInt(record.bytes().length));
        }
      }
      if (file.equals(DATA) && random.nextInt(4) > 0) {
        int page = usedPage();
        return (long) page * PAGE
            + (random.nextBoolean() ? random.nextInt(128) : random.nextInt(PAGE));
      }
      if (file.equals(DOUBLE_WRITE) && random.nextInt(4) > 0) {
        return Math.min(size - 1, random.nextInt((1 + map.images()) * PAGE));
      }
      return random.nextLong(size);
    }

    private int usedPage() {
      if (random.nextInt(12) == 0) {
        return random.nextInt(3);
      }
      List<Integer> types = List.copyOf(map.pages().keySet());
      return types.isEmpty() ? 0 : one(map.pages().getOrDefault(one(types), List.of(0)));
    }

    // ---- damage that a checksum detects ----

    private String flip() {
      int count = random.nextInt(3) == 0 ? 1 + random.nextInt(5) : 1;
      String file = anyFile();
      for (int i = 0; i < count; i++) {
        long at = placeIn(file);
        byte[] bytes = map.disk().bytes(file, at, 1);
        bytes[0] ^= (byte) (1 << random.nextInt(8));
        step("set", file, at, HexFormat.of().formatHex(bytes));
      }
      return "flip";
    }

    private String run() {
      String file = anyFile();
      int length = 1 << random.nextInt(17);
      length += random.nextInt(length);
      long at = placeIn(file);
      if (random.nextInt(3) == 0) {
        at -= at % SECTOR;
      }
      switch (random.nextInt(4)) {
        case 0 -> step("fill", file, at, length, "00");
        case 1 -> step("fill", file, at, length, "ff");
        default -> step("noise", file, at, length, random.nextInt(1 << 30));
      }
      return "run";
    }

    private String swap() {
      String file = anyFile();
      int block = List.of(SECTOR, 4096, PAGE).get(random.nextInt(3));
      long one = placeIn(file) / block * block;
      long other = placeIn(file) / block * block;
      if (one != other) {
        step("swap", file, one, other, block);
      }
      return "swap";
    }

    private int otherMoment() {
      int count = family.moments().size();
      return count == 1 ? moment : (moment + 1 + random.nextInt(count - 1)) % count;
    }

    /** Sectors of another moment; a whole page would have a correct checksum. */
    private String torn() {
      String file = anyFile();
      long at = placeIn(file);
      at -= at % PAGE;
      int from = random.nextInt(PAGE / SECTOR);
      int count = 1 + random.nextInt(PAGE / SECTOR - 1);
      int other = otherMoment();
      for (int i = from; i < Math.min(from + count, PAGE / SECTOR); i++) {
        if (random.nextInt(4) > 0 || i == from) {
          step("copy", file, at + (long) i * SECTOR, SECTOR, other);
        }
      }
      return "torn";
    }

    private String length() {
      String file = anyFile();
      FileContent content = map.disk().file(file);
      long size = content == null ? 0 : content.size();
      long wanted =
          switch (random.nextInt(9)) {
            case 0 -> 0;
            case 1 -> 1;
            case 2 -> size - 1;
            case 3 -> size + 1;
            case 4 -> size / 2;
            case 5 -> size - PAGE;
            case 6 -> size + PAGE;
            case 7 -> size * 2;
            default -> random.nextLong(size + 1);
          };
      if (wanted >= 0 && wanted != size && !file.endsWith(".spill")) {
        step("size", file, wanted);
      }
      return "length";
    }

    private String names() {
      String file = anyFile();
      String other = anyFile();
      String segment = one(map.segments());
      return switch (random.nextInt(6)) {
        case 0 -> {
          step("delete", file);
          yield "missing";
        }
        case 1 -> {
          step("delete", segment);
          yield "missing";
        }
        case 2 -> {
          if (!file.equals(other)) {
            step("exchange", file, other);
          }
          yield "renamed";
        }
        case 3 -> {
          step("double", segment, strange());
          yield "doubled";
        }
        case 4 -> {
          step("rename", segment, strange());
          yield "renamed";
        }
        default -> {
          step(
              "create",
              strange(),
              random.nextInt(3) == 0 ? 1 << random.nextInt(15, 21) : random.nextInt(2) * 100);
          yield "stray";
        }
      };
    }

    /** A name that a segment may have, or a similar one. */
    private String strange() {
      long known = SegmentLayout.FIRST_BEGIN;
      for (String segment : map.segments()) {
        String hex = segment.substring(4, segment.length() - 4);
        if (hex.matches("[0-9a-f]{16}")) {
          known = random.nextBoolean() ? Long.parseUnsignedLong(hex, 16) : known;
        }
      }
      long next =
          switch (random.nextInt(10)) {
            case 0 -> 0;
            case 1 -> known - 4096;
            case 2 -> known + 1;
            case 3 -> known + (1L << 15) - SegmentLayout.HEADER;
            case 4 -> known + 8L * random.nextInt(100_000);
            case 5 -> 1L << random.nextInt(63);
            case 6 -> Long.MAX_VALUE;
            case 7 -> -1;
            case 8 -> SegmentLayout.LARGEST_LSN + 8L * random.nextInt(-8, 8);
            default -> random.nextLong();
          };
      String name = "log/%016x.log".formatted(next);
      return switch (random.nextInt(12)) {
        case 0 -> name.replace(".log", ".tmp");
        case 1 -> "log/" + next + ".log";
        case 2 -> "log/stray";
        case 3 ->
            one(
                List.of(
                    "stray",
                    "revenant.data.new",
                    "versions-1.spill",
                    "sorts-1.spill",
                    "versions--1.spill",
                    "savepoints-99999999999999999999.spill",
                    "revenant.counters",
                    "revenant.datA"));
        default -> name;
      };
    }

    private String wrongKind() {
      String file =
          switch (random.nextInt(8)) {
            case 0 -> "log";
            case 1 -> strange();
            case 2 -> DATA;
            case 3 -> DOUBLE_WRITE;
            case 4 -> "revenant.lock";
            case 5 -> "versions-1.spill";
            case 6 -> "revenant.counters";
            default -> one(map.segments());
          };
      step("delete", file);
      String kind = random.nextInt(3) == 0 ? "dir" : one(SPECIALS);
      step("kind", file, kind);
      return "kind";
    }

    private String moments() {
      int other = otherMoment();
      if (other == moment) {
        return "moments";
      }
      if (random.nextInt(3) == 0) {
        int page = usedPage();
        step("copy", DATA, (long) page * PAGE, PAGE, other);
        return "moments.page";
      }
      step("from", anyFile(), other);
      if (random.nextInt(3) == 0) {
        step("from", anyFile(), other);
      }
      return "moments";
    }

    // ---- fields, with a corrected checksum ----

    private String page() {
      int page = typedPage();
      int count = random.nextInt(5) == 0 ? 2 + random.nextInt(2) : 1;
      byte[] bytes = map.page(page);
      for (int i = 0; i < count; i++) {
        change(DATA, (long) page * PAGE, bytes, page);
      }
      step("sealpage", DATA, page);
      return "field." + typeName(bytes[PageHeaderLayout.TYPE]);
    }

    private int typedPage() {
      List<Integer> types = List.copyOf(map.pages().keySet());
      return one(map.pages().getOrDefault(one(types), List.of(3)));
    }

    private void change(String file, long base, byte[] bytes, int page) {
      List<Field> fields = Fields.page(bytes);
      // Otherwise the many fields of cells would displace the few of the header.
      Field field =
          random.nextInt(3) == 0
              ? fields.get(random.nextInt(Math.min(16, fields.size())))
              : one(fields);
      long old = get(bytes, field);
      put(file, base + field.offset(), field.width(), value(field, old, page));
    }

    private String catalogue() {
      List<Integer> leaves = map.pages().getOrDefault(Fields.LEAF, List.of());
      List<Integer> catalogue =
          leaves.stream()
              .filter(page -> DamagedDisk.little(map.page(page)).getInt(24) == 0)
              .toList();
      if (!catalogue.isEmpty()) {
        int page = one(catalogue);
        byte[] bytes = map.page(page);
        List<Field> entries =
            Fields.page(bytes).stream().filter(field -> field.name().startsWith("entry")).toList();
        if (!entries.isEmpty()) {
          Field field = one(entries);
          long value = value(field, get(bytes, field), page);
          put(DATA, (long) page * PAGE + field.offset(), field.width(), value);
          step("sealpage", DATA, page);
        }
      }
      return "field.catalogue";
    }

    private String control() {
      boolean both = random.nextBoolean();
      int first = 1 + random.nextInt(2);
      Field field = one(Fields.control());
      byte[] bytes = map.page(first);
      long value = value(field, get(bytes, field), first);
      for (int slot = 1; slot <= 2; slot++) {
        if (both || slot == first) {
          put(DATA, (long) slot * PAGE + field.offset(), field.width(), value);
          step("sealpage", DATA, slot);
        }
      }
      if (both && random.nextInt(3) == 0) {
        Field second = one(Fields.control());
        put(
            DATA,
            PAGE + second.offset(),
            second.width(),
            value(second, get(map.page(1), second), 1));
        step("sealpage", DATA, 1);
      }
      return "field.control";
    }

    private String header() {
      Field field = one(Fields.header());
      long old = get(map.page(0), field);
      long value =
          field.name().contains("size") && random.nextInt(3) > 0
              ? 1L << random.nextInt(32)
              : value(field, old, 0);
      put(DATA, field.offset(), field.width(), value);
      step("sealpage", DATA, 0);
      return "field.header";
    }

    private String doubleWrite() {
      if (map.disk().file(DOUBLE_WRITE) == null) {
        return "field.doublewrite";
      }
      if (map.images() > 0 && random.nextInt(2) == 0) {
        int image = random.nextInt(map.images());
        byte[] bytes = map.disk().bytes(DOUBLE_WRITE, (1L + image) * PAGE, PAGE);
        change(DOUBLE_WRITE, (1L + image) * PAGE, bytes, DamagedDisk.little(bytes).getInt(4));
        step("sealimage", DOUBLE_WRITE, image);
        if (random.nextInt(2) == 0) {
          // The page's own copy is torn, so the image counts.
          int page = DamagedDisk.little(bytes).getInt(4);
          step("noise", DATA, (long) page * PAGE + SECTOR, SECTOR, random.nextInt(1 << 30));
        }
        return "field.image";
      }
      List<Field> fields = Fields.doubleWrite(map.images());
      Field field = random.nextBoolean() ? fields.get(random.nextInt(6)) : one(fields);
      byte[] bytes = map.disk().bytes(DOUBLE_WRITE, 0, PAGE);
      put(DOUBLE_WRITE, field.offset(), field.width(), value(field, get(bytes, field), 0));
      step("sealpage", DOUBLE_WRITE, 0);
      return "field.doublewrite";
    }

    private String segment() {
      String segment = one(map.segments());
      byte[] bytes = map.disk().bytes(segment, 0, SegmentLayout.CHECKED);
      int count = 1 + random.nextInt(8) / 7;
      for (int i = 0; i < count; i++) {
        Field field = one(Fields.segment());
        put(segment, field.offset(), field.width(), value(field, get(bytes, field), 0));
      }
      step("sealsegment", segment);
      return "field.segment";
    }

    private String record() {
      if (map.records().isEmpty()) {
        return "field.record";
      }
      DiskMap.LogRecord record = one(map.records());
      if (record.type() == 1 && random.nextInt(3) == 0) {
        // Most records are of this type; the others should get their turn.
        List<DiskMap.LogRecord> others =
            map.records().stream().filter(each -> each.type() != 1).toList();
        record = others.isEmpty() ? record : one(others);
      }
      List<Field> body = Fields.body(record.bytes());
      boolean inBody = !body.isEmpty() && random.nextInt(4) > 0;
      Field field = inBody ? one(body) : one(Fields.record());
      long value = value(field, get(record.bytes(), field), 0);
      step("record", record.file(), record.offset(), field.offset(), hex(field.width(), value));
      if (field.offset() + field.width() > record.bytes().length
          || record.bytes().length < LogRecordLayout.HEADER) {
        steps.clear();
      }
      return "field.record";
    }

    // ---- values ----

    private long get(byte[] bytes, Field field) {
      var numbers = DamagedDisk.little(bytes);
      return switch (field.width()) {
        case 1 -> bytes[field.offset()] & 0xFF;
        case 2 -> numbers.getShort(field.offset()) & 0xFFFF;
        case 4 -> numbers.getInt(field.offset()) & 0xFFFF_FFFFL;
        default -> numbers.getLong(field.offset());
      };
    }

    private void put(String file, long at, int width, long value) {
      step("set", file, at, hex(width, value));
    }

    private String hex(int width, long value) {
      byte[] bytes = new byte[8];
      DamagedDisk.little(bytes).putLong(0, value);
      return HexFormat.of().formatHex(bytes, 0, width);
    }

    /** Another value: an edge value, the value of another object of that kind, or any. */
    private long value(Field field, long old, int page) {
      long value = random.nextInt(2) == 0 ? edge(field, old) : fitting(field, old, page);
      return value == old ? old ^ 1L << random.nextInt(8 * field.width()) : value;
    }

    private long edge(Field field, long old) {
      long top = 1L << (8 * field.width() - 1);
      return switch (random.nextInt(10)) {
        case 0 -> 0;
        case 1 -> 1;
        case 2 -> -1;
        case 3 -> top - 1;
        case 4 -> top;
        case 5 -> old + 1;
        case 6 -> old - 1;
        case 7 -> old * 2;
        case 8 -> old ^ 1L << random.nextInt(8 * field.width());
        default -> random.nextLong();
      };
    }

    private long fitting(Field field, long old, int page) {
      return switch (field.kind()) {
        case PAGE ->
            switch (random.nextInt(8)) {
              case 0 -> page;
              case 1 -> random.nextInt(6);
              case 2 -> map.pageCount() - 1L + random.nextInt(3);
              case 3 -> map.pageCount() + random.nextInt(1 << 16);
              case 4 -> old + random.nextInt(1 << 24);
              default -> typedPage();
            };
        case OFFSET ->
            switch (random.nextInt(4)) {
              case 0 -> one(List.of(15, 16, 17, 63, 64, 65, 8187, 8190, 8191, 8192, 8193));
              case 1 -> old + random.nextInt(64) - 32;
              default -> random.nextInt(PAGE);
            };
        case COUNT ->
            switch (random.nextInt(3)) {
              case 0 -> old + random.nextInt(32) - 16;
              case 1 ->
                  one(List.of(2, 7, 64, 127, 128, 129, 255, 2031, 2032, 2033, 8128, 8192, 1 << 20));
              default -> random.nextInt(1 << (1 + random.nextInt(20)));
            };
        case LSN ->
            switch (random.nextInt(6)) {
              case 0 -> map.endOfLog();
              case 1 -> map.endOfLog() + 8L * random.nextInt(1 << 20);
              case 2 -> old + 8L * (random.nextInt(64) - 32);
              case 3 -> random.nextLong(Math.max(1, map.endOfLog()) + 1);
              case 4 -> someLsn();
              default -> old + 1 + random.nextInt(7);
            };
        case TRANSACTION ->
            switch (random.nextInt(4)) {
              case 0 -> random.nextInt(400);
              case 1 -> someTransaction();
              case 2 -> old + random.nextInt(20) - 10;
              default -> random.nextLong();
            };
        case TABLE -> random.nextInt(16);
        case CODE -> random.nextInt(1 << Math.min(8, 8 * field.width()));
        case NUMBER -> random.nextLong();
      };
    }

    private long someLsn() {
      return map.records().isEmpty()
          ? 0
          : DamagedDisk.little(one(map.records()).bytes()).getLong(LogRecordLayout.LSN);
    }

    private long someTransaction() {
      return map.records().isEmpty()
          ? 0
          : DamagedDisk.little(one(map.records()).bytes()).getLong(LogRecordLayout.TRANSACTION);
    }
  }

  /** The names of page types. */
  static String typeName(int type) {
    return switch (type) {
      case Fields.SPACE_MAP -> "map";
      case Fields.LEAF -> "leaf";
      case Fields.INNER -> "inner";
      case Fields.HEAD -> "head";
      case Fields.INDEX -> "index";
      case Fields.DATA -> "data";
      case Fields.GAM -> "gam";
      case Fields.IAM -> "iam";
      case Fields.SHARED -> "shared";
      default -> "page";
    };
  }
}
