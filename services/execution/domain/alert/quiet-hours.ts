/** Whether a time lies in quiet hours: by the clock on the wall of the zone, so that clock changes need no rule of their own. */
import { minutesOfDay, weekDays, type QuietWindow, type WeekDay } from '#contracts/policy';

interface WallTime {
  readonly day: WeekDay;
  readonly yesterday: WeekDay;
  readonly minutes: number;
}

function wallTime(at: string, timezone: string): WallTime {
  const format = new Intl.DateTimeFormat('en-US', {
    timeZone: timezone,
    weekday: 'short',
    hour: '2-digit',
    minute: '2-digit',
    hourCycle: 'h23',
  });
  const parts = new Map(format.formatToParts(Date.parse(at)).map(({ type, value }) => [type, value]));
  const today = weekDays.findIndex((day) => day === parts.get('weekday')?.toLowerCase());
  return {
    day: weekDays[today] ?? 'mon',
    yesterday: weekDays[(today + 6) % 7] ?? 'sun',
    minutes: Number(parts.get('hour')) * 60 + Number(parts.get('minute')),
  };
}

/** A window that ends before it begins goes over midnight and belongs to the day on which it begins. */
function isIn({ days, from, to, timezone }: QuietWindow, at: string): boolean {
  const { day, yesterday, minutes } = wallTime(at, timezone);
  const first = minutesOfDay(from);
  const last = minutesOfDay(to);
  if (first < last) return days.includes(day) && minutes >= first && minutes < last;
  return (days.includes(day) && minutes >= first) || (days.includes(yesterday) && minutes < last);
}

export function isQuiet(quietHours: readonly QuietWindow[], at: string): boolean {
  return quietHours.some((window) => isIn(window, at));
}
