package org.revenantdb.suite.fuzz;

import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.revenantdb.chaos.disk.DiskImage;
import org.revenantdb.recovery.format.PageHeaderLayout;

/**
 * A damaged database: a moment of a family, and the steps of damage.
 *
 * @param seed of the whole run, from which the families are generated
 * @param family number of the family
 * @param moment the index of the moment
 * @param kind the kind of damage, for the tables of results
 * @param steps the damage
 */
record Variant(long seed, int family, int moment, String kind, List<Damage> steps) {

  private static final int PAGE = PageHeaderLayout.PAGE_SIZE;
  private static final Pattern TEXT =
      Pattern.compile("(-?\\d+)/(\\d+)/(\\d+) ([a-z.-]+): ?(.*)", Pattern.DOTALL);

  /** Reads it back from {@link #text}. */
  static Variant parse(String text) {
    Matcher parts = TEXT.matcher(text.strip());
    if (!parts.matches()) {
      throw new IllegalArgumentException(
          "a case has the form SEED/FAMILY/MOMENT KIND: DAMAGE; DAMAGE ..., not " + text);
    }
    return new Variant(
        Long.parseLong(parts.group(1)),
        Integer.parseInt(parts.group(2)),
        Integer.parseInt(parts.group(3)),
        parts.group(4),
        Damage.parse(parts.group(5)));
  }

  String text() {
    return "%d/%d/%d %s: %s".formatted(seed, family, moment, kind, Damage.text(steps));
  }

  /** Whether a checksum cannot detect wrong answers. */
  boolean isForged(Family of) {
    return kind.startsWith("moments")
        || steps.stream().anyMatch(Damage::seals)
        || (steps.stream().anyMatch(Damage::isOfSector) && hasWholePage(of));
  }

  private boolean hasWholePage(Family of) {
    DamagedDisk damaged = make(of);
    return steps.stream().anyMatch(step -> step.isOfSector() && isWholePage(of, damaged, step));
  }

  /**
   * Whether the page with a copied sector is wholly that of the other moment, because its other
   * sectors were copied, too, or are equal in both moments. Then its checksum is correct.
   */
  private boolean isWholePage(Family of, DamagedDisk damaged, Damage copy) {
    long at = copy.offset() - copy.offset() % PAGE;
    byte[] now = damaged.bytes(copy.file(), at, PAGE);
    byte[] other = bytes(of, copy.otherMoment(), copy.file(), at);
    return Arrays.equals(now, other) && !Arrays.equals(now, bytes(of, moment, copy.file(), at));
  }

  private static byte[] bytes(Family of, int moment, String file, long at) {
    return new DamagedDisk(of.moments().get(moment).image()).bytes(file, at, PAGE);
  }

  /**
   * Whether the end of the log may look like the end after a crash: records that nothing shows to
   * be durable cannot be distinguished from a torn tail (format.md §2.3).
   */
  boolean mayShortenLog() {
    return steps.stream().anyMatch(step -> step.isOfBytes() && step.file().startsWith("log/"));
  }

  /**
   * The contents at other moments from which bytes of the log were copied. If these bytes contain
   * the whole log between two moments, the log is complete and its checksums are correct. Then its
   * content is right, but of another moment.
   */
  List<State> statesOfCopiedLog(Family of) {
    return steps.stream()
        .filter(step -> step.verb().equals("copy") && step.file().startsWith("log/"))
        .map(step -> of.moments().get(step.otherMoment()))
        .distinct()
        .flatMap(other -> other.states().stream())
        .toList();
  }

  /** The damaged disk. */
  DamagedDisk make(Family of) {
    DiskImage image = of.moments().get(moment).image().fork();
    DamagedDisk disk = new DamagedDisk(image);
    steps.forEach(step -> step.apply(disk, of));
    return disk;
  }
}
