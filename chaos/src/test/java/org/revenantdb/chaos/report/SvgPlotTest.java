package org.revenantdb.chaos.report;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.ArrayList;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.revenantdb.chaos.report.KillTimeline.Event;
import org.revenantdb.chaos.subject.Crash;

class SvgPlotTest {

  private static SvgPlot plot(boolean log) {
    return new SvgPlot("t", "x", Unit.COUNT, log, "y", Unit.COUNT);
  }

  @Test
  void curve_isDrawnFromLeftBelowToRightAbove() {
    String svg =
        plot(false).curve("a", new double[] {0, 8}, new double[] {0, 5}, List.of()).toString();
    // The plot area is 76..612 by 26..246: both ends of the scales are ticks.
    assertTrue(svg.contains("<path class=\"line c0\" d=\"M76 246L612 26\"/>"), svg);
  }

  @Test
  void steps_keepTheirValueUntilTheNext() {
    String svg = plot(false).steps("a", new double[] {0, 8}, new double[] {0, 5}).toString();
    assertTrue(svg.contains("d=\"M76 246H612V26\""), svg);
  }

  @Test
  void bars_standOnTheAxis_emptyOnesAreNotDrawn() {
    String svg = plot(false).bars("a", new double[] {0, 4, 8}, new double[] {5, 0}).toString();
    assertTrue(
        svg.contains("<rect class=\"column c0\" x=\"76.5\" y=\"26\" width=\"267\" height=\"220\">"),
        svg);
    // One in the legend, one bar.
    assertEquals(2, svg.split("<rect", -1).length - 1, svg);
    assertTrue(svg.contains("<title>0 to 4: 5</title>"), svg);
  }

  @Test
  void values_thatTheAxisCannotShow_areCountedNotDrawn() {
    String svg =
        plot(true)
            .curve("a", new double[] {0, 1, 10}, new double[] {1, Double.NaN, 2}, List.of())
            .toString();
    assertTrue(svg.contains("2 values cannot be shown here"), svg);
    assertFalse(svg.contains("NaN"), svg);
  }

  @Test
  void plot_withoutAnyValue_isStillAPlot() {
    String svg = plot(true).curve("a", new double[0], new double[0], List.of()).toString();
    assertTrue(svg.startsWith("<svg") && svg.endsWith("</svg>\n"), svg);
  }

  @Test
  void ninthCurve_hasTheFirstColourAndDashes() {
    SvgPlot plot = plot(false);
    for (int i = 0; i < 9; i++) {
      plot.steps("s" + i, new double[] {1}, new double[] {1});
    }
    assertTrue(plot.toString().contains("\"line c0 d1\""));
  }

  @Test
  void histogram_countsEachValueOnce_edgesToTheRight() {
    assertArrayEquals(
        new double[] {1, 3, 1},
        HtmlPlots.heights(new double[] {0, 1, 1.5, 1.9, 3}, new double[] {0, 1, 2, 3}));
    double[] edges = HtmlPlots.logEdges(0.013, 977);
    assertTrue(edges[0] <= 0.013 && edges[edges.length - 1] > 977);
    double[] linear = HtmlPlots.linearEdges(20);
    assertTrue(linear[0] == 0 && linear[linear.length - 1] > 20);
  }

  @Test
  void thinning_keepsEndsAndPeaks() {
    List<SizeSeries.Point> many = new ArrayList<>();
    for (int i = 0; i < 100_000; i++) {
      many.add(new SizeSeries.Point(i, i == 54_321 ? 1_000_000 : i % 100 + 1));
    }
    many.set(77_777, new SizeSeries.Point(77_777, 0));
    List<SizeSeries.Point> few = HtmlPlots.thinned(many);
    assertTrue(few.size() <= 1_500, () -> few.size() + " points");
    assertTrue(few.contains(many.get(54_321)), "the peak");
    assertTrue(few.contains(many.get(77_777)), "the hole");
    assertEquals(many.getFirst(), few.getFirst());
    assertEquals(many.getLast(), few.getLast());
  }

  @Test
  void timeline_drawsPhasesStrokesAndTheKill() {
    KillTimeline timeline =
        new KillTimeline(
            Crash.PROCESS_DEATH,
            "a kill",
            List.of(500L),
            List.of(
                Event.at("commits", 100, "commit 7"),
                new Event("recovery", 500, 1_000, "redo"),
                Event.at("commits", 100, "commit 8")));
    String svg = new SvgTimeline(timeline).toString();
    assertTrue(svg.contains("<title>killed at operation 500</title>"), svg);
    assertTrue(svg.contains("<title>2 from 100 to 100</title>"), svg);
    assertTrue(svg.contains(">redo</text>"), svg);
    assertTrue(svg.indexOf(">commits<") < svg.indexOf(">recovery<"), svg);
  }

  @Test
  void timeline_ofAPowerCut_doesNotContainKilled() {
    KillTimeline timeline = new KillTimeline(Crash.POWER_CUT, "a cut", List.of(5L), List.of());
    String svg = new SvgTimeline(timeline).toString();
    assertTrue(svg.contains("<title>power cut at operation 5</title>"), svg);
    assertFalse(svg.contains("killed at") || svg.contains(">killed<"), svg);
  }

  @Test
  void airyPlot_ofACurveAtATick_hasSpaceAboveIt() {
    Matcher line =
        Pattern.compile("class=\"line c0\" d=\"M[\\d.]+ ([\\d.]+)H")
            .matcher(
                plot(false)
                    .airy()
                    .steps("s", new double[] {0, 1}, new double[] {10, 10})
                    .toString());
    assertTrue(line.find());
    double top = 12 + 14;
    assertTrue(Double.parseDouble(line.group(1)) > top + 5, line::group);
  }

  @Test
  void logarithmicHeights_showFactors() {
    String svg =
        plot(false)
            .logarithmic()
            .curve("c", new double[] {1, 2, 3, 4}, new double[] {1, 10, 0, 100}, List.of())
            .toString();
    Matcher points =
        Pattern.compile(
                "class=\"line c0\" d=\"M[\\d.]+ ([\\d.]+)L[\\d.]+ ([\\d.]+)L[\\d.]+ ([\\d.]+)\"")
            .matcher(svg);
    assertTrue(points.find(), svg);
    double first = Double.parseDouble(points.group(1));
    double second = Double.parseDouble(points.group(2));
    double third = Double.parseDouble(points.group(3));
    assertEquals(first - second, second - third, 0.3);
    assertTrue(svg.contains("1 values cannot be shown here"), svg);
  }

  @Test
  void timeline_withoutEvents_isStillDrawn() {
    String svg =
        new SvgTimeline(new KillTimeline(Crash.POWER_CUT, "x", List.of(), List.of())).toString();
    assertFalse(svg.contains("NaN"), svg);
  }
}
