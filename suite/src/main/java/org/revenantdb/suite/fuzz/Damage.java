package org.revenantdb.suite.fuzz;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.revenantdb.chaos.disk.FileContent;
import org.revenantdb.recovery.format.PageHeaderLayout;

/**
 * One step of damage, with a text form that can be read back:
 *
 * <pre>
 *   set FILE OFFSET HEX               bytes
 *   fill FILE OFFSET LENGTH HEX       one byte, many times
 *   noise FILE OFFSET LENGTH SEED     bytes at random
 *   swap FILE OFFSET OFFSET LENGTH    two places
 *   copy FILE OFFSET LENGTH MOMENT    bytes of another moment of the family
 *   size FILE BYTES                   shorter or longer
 *   delete FILE
 *   rename FILE FILE
 *   double FILE FILE
 *   exchange FILE FILE
 *   from FILE MOMENT                  the whole file from another moment
 *   create FILE BYTES                 a file of zeros
 *   kind FILE KIND                    dir, fifo, socket, self, dangling, zero, null, link
 *   sealpage FILE PAGE                the page's checksum is corrected
 *   sealimage FILE INDEX              the checksums of an image of the double-write file and of its header
 *   sealsegment FILE                  the checksum of a segment header
 *   record FILE OFFSET AT HEX         bytes of the record at an offset; its checksum is corrected
 * </pre>
 *
 * @param words verb and arguments
 */
record Damage(List<String> words) {

  private static final int PAGE = PageHeaderLayout.PAGE_SIZE;

  static Damage of(Object... words) {
    return new Damage(Arrays.stream(words).map(String::valueOf).toList());
  }

  /** Reads steps from text. */
  static List<Damage> parse(String text) {
    List<Damage> steps = new ArrayList<>();
    for (String step : text.split(";", -1)) {
      String words = step.strip();
      if (!words.isEmpty()) {
        steps.add(new Damage(List.of(words.split(" +", -1))));
      }
    }
    return steps;
  }

  static String text(List<Damage> steps) {
    return steps.stream()
        .map(step -> String.join(" ", step.words))
        .collect(Collectors.joining("; "));
  }

  /** Whether a checksum is corrected, so that it cannot show the damage. */
  boolean seals() {
    return verb().startsWith("seal") || verb().equals("record");
  }

  /** Whether it only changes bytes of a file. */
  boolean isOfBytes() {
    return switch (verb()) {
      case "set", "fill", "noise", "swap", "copy" -> true;
      default -> false;
    };
  }

  String verb() {
    return words.getFirst();
  }

  String file() {
    return words.get(1);
  }

  /** Whether it copies less than a page of another moment. */
  boolean isOfSector() {
    return verb().equals("copy") && size(3) < PAGE;
  }

  /** Of bytes: where the first one is. */
  long offset() {
    return number(2);
  }

  /** Of a copy: from which moment. */
  int otherMoment() {
    return size(4);
  }

  private long number(int index) {
    return Long.parseLong(words.get(index));
  }

  private int size(int index) {
    return Math.toIntExact(number(index));
  }

  /** Carries it out. */
  void apply(DamagedDisk disk, Family family) {
    switch (verb()) {
      case "set" -> disk.set(file(), number(2), HexFormat.of().parseHex(words.get(3)));
      case "fill" -> {
        byte[] bytes = new byte[size(3)];
        Arrays.fill(bytes, (byte) Integer.parseInt(words.get(4), 16));
        disk.set(file(), number(2), bytes);
      }
      case "noise" -> {
        byte[] bytes = new byte[size(3)];
        new SplittableRandom(number(4)).nextBytes(bytes);
        disk.set(file(), number(2), bytes);
      }
      case "swap" -> {
        byte[] one = disk.bytes(file(), number(2), size(4));
        byte[] other = disk.bytes(file(), number(3), size(4));
        disk.set(file(), number(2), other);
        disk.set(file(), number(3), one);
      }
      case "copy" -> {
        DamagedDisk source = moment(family, size(4));
        FileContent there = source.file(file());
        if (there != null && there.size() >= number(2) + size(3)) {
          disk.set(file(), number(2), source.bytes(file(), number(2), size(3)));
        }
      }
      case "size" -> disk.setSize(file(), number(2));
      case "delete" -> disk.delete(file());
      case "rename" -> disk.rename(file(), words.get(2));
      case "double" -> put(disk, words.get(2), disk.file(file()));
      case "exchange" -> disk.exchange(file(), words.get(2));
      case "from" -> {
        disk.delete(file());
        put(disk, file(), moment(family, size(2)).file(file()));
      }
      case "create" -> {
        FileContent content = new FileContent();
        content.setSize(number(2));
        disk.put(file(), content);
      }
      case "kind" -> disk.makeKind(file(), words.get(2));
      case "sealpage" -> disk.sealPage(file(), size(2));
      case "sealimage" -> disk.sealImage(file(), size(2));
      case "sealsegment" -> disk.sealSegment(file());
      case "record" ->
          disk.setRecord(file(), number(2), size(3), HexFormat.of().parseHex(words.get(4)));
      default -> throw new IllegalArgumentException("no damage is called " + verb());
    }
  }

  private static void put(DamagedDisk disk, String path, @Nullable FileContent content) {
    if (content != null) {
      disk.put(path, content.copy());
    }
  }

  private static DamagedDisk moment(Family family, int index) {
    return new DamagedDisk(family.moments().get(index).image());
  }
}
