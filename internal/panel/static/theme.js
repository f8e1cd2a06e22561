// Runs before anything is painted, so that a chosen theme never flashes.
const theme = localStorage.getItem('tandem-theme');
if (theme === 'light' || theme === 'dark') document.documentElement.dataset.theme = theme;
