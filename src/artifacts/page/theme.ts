const THEMES = ['system', 'light', 'dark'] as const;

/** One button goes through the three; nothing is kept, since a page of evidence leaves no traces. */
export function prepareTheme(button: HTMLElement): void {
  let at = 0;
  const show = (): void => {
    const theme = THEMES[at] ?? 'system';
    if (theme === 'system') delete document.documentElement.dataset['theme'];
    else document.documentElement.dataset['theme'] = theme;
    button.textContent = `Theme: ${theme}`;
  };
  button.addEventListener('click', () => {
    at = (at + 1) % THEMES.length;
    show();
  });
  show();
}
