package org.revenantdb.chaos.report;

import static org.revenantdb.chaos.report.Html.escape;
import static org.revenantdb.chaos.report.Html.px;

import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.LongStream;
import org.revenantdb.chaos.report.KillTimeline.Event;

/**
 * A {@link KillTimeline} as inline SVG: a lane for each kind of event, instants as strokes, phases
 * as bars, kills as lines across all lanes.
 *
 * <p>Instants on the same pixel are one stroke with their number as its tooltip.
 */
final class SvgTimeline {

  private static final int WIDTH = 1000;
  private static final int LEFT = 110;
  private static final int RIGHT = 18;
  private static final int TOP = 24;
  private static final int LANE = 30;
  private static final int COLOURS = 8;
  private static final double LETTER = 6.3;

  private final KillTimeline timeline;
  private final Map<String, List<Event>> lanes = new LinkedHashMap<>();
  private final Scale x;
  private final double bottom;

  SvgTimeline(KillTimeline timeline) {
    this.timeline = timeline;
    for (Event event : timeline.events()) {
      lanes.computeIfAbsent(event.lane(), _ -> new ArrayList<>()).add(event);
    }
    long low = places().min().orElse(0);
    long high = places().max().orElse(1);
    double room = Math.max(1, (high - low) * 0.015);
    x = Scale.exact(Unit.COUNT, Math.max(0, low - room), high + room, LEFT, WIDTH - RIGHT);
    bottom = TOP + Math.max(1, lanes.size()) * (double) LANE;
  }

  private LongStream places() {
    return LongStream.concat(
        timeline.kills().stream().mapToLong(Long::longValue),
        timeline.events().stream().flatMapToLong(e -> LongStream.of(e.from(), e.to())));
  }

  @Override
  public String toString() {
    StringBuilder out = new StringBuilder();
    out.append(
        "<svg class=\"plot\" role=\"img\" viewBox=\"0 0 %s %s\"><title>%s</title>\n"
            .formatted(WIDTH, px(bottom + 42), escape(timeline.title())));
    for (double tick : x.ticks(8)) {
      out.append(
          "<path class=\"grid\" d=\"M%s %sV%s\"/>".formatted(px(x.at(tick)), TOP, px(bottom)));
      text(out, "tick", x.at(tick), bottom + 16, "middle", Unit.COUNT.format(tick));
    }
    text(out, "name", WIDTH - RIGHT, bottom + 36, "end", "operation");
    double middle = TOP + LANE / 2.0;
    int colour = 0;
    for (Map.Entry<String, List<Event>> lane : lanes.entrySet()) {
      String cls = "c" + colour % COLOURS;
      text(out, "lane", LEFT - 10, middle + 4, "end", lane.getKey());
      out.append(
          "<path class=\"grid\" d=\"M%s %sH%s\"/>".formatted(LEFT, px(middle), WIDTH - RIGHT));
      lane(out, lane.getValue(), cls, middle);
      middle += LANE;
      colour++;
    }
    out.append(
        "<path class=\"axis\" d=\"M%s %sH%s\"/>\n".formatted(LEFT, px(bottom), WIDTH - RIGHT));
    for (long kill : timeline.kills()) {
      double at = x.at((double) kill);
      out.append(
          "<path class=\"kill\" d=\"M%s %sV%s\"><title>%s at operation %s</title></path>"
              .formatted(px(at), TOP - 6, px(bottom), timeline.mark(), kill));
      text(
          out,
          "killed",
          Math.clamp(at, LEFT + 30, WIDTH - RIGHT - 30),
          TOP - 10,
          "middle",
          timeline.mark());
    }
    return out.append("</svg>\n").toString();
  }

  private void lane(StringBuilder out, List<Event> events, String cls, double middle) {
    Map<Long, List<Event>> strokes = new TreeMap<>();
    for (Event event : events) {
      if (event.from() == event.to()) {
        strokes
            .computeIfAbsent(Math.round(x.at((double) event.from())), _ -> new ArrayList<>())
            .add(event);
      } else {
        phase(out, event, cls, middle);
      }
    }
    strokes.forEach((pixel, there) -> {
      Event one = there.getFirst();
      double at = there.size() == 1 ? x.at((double) one.from()) : (double) pixel;
      out.append(
          "<path class=\"stroke %s\" d=\"M%s %sv16\"><title>%s</title></path>\n"
              .formatted(cls, px(at), px(middle - 8), escape(tip(there))));
    });
  }

  private static String tip(List<Event> there) {
    Event one = there.getFirst();
    String place = Html.count(one.from());
    return there.size() == 1
        ? one.label() + " at " + place
        : there.size() + " from " + place + " to " + Html.count(there.getLast().from());
  }

  private void phase(StringBuilder out, Event event, String cls, double middle) {
    double left = x.at((double) event.from());
    double width = Math.max(1.5, x.at((double) event.to()) - left);
    String tip = event.label() + ", " + Html.count(event.from()) + " to " + Html.count(event.to());
    out.append(
        "<rect class=\"phase %s\" x=\"%s\" y=\"%s\" width=\"%s\" height=\"18\" rx=\"2\"><title>%s</title></rect>\n"
            .formatted(cls, px(left), px(middle - 9), px(width), escape(tip)));
    if (event.label().length() * LETTER + 6 <= width) {
      text(out, "inside", left + width / 2, middle + 4, "middle", event.label());
    }
  }

  private static void text(
      StringBuilder out, String cls, double x, double y, String anchor, String text) {
    out.append(
        "<text class=\"%s\" x=\"%s\" y=\"%s\" text-anchor=\"%s\">%s</text>\n"
            .formatted(cls, px(x), px(y), anchor, escape(text)));
  }
}
